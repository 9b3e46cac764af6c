"""Verdicts for a person, on a terminal or in a pipe."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from colrun.claims import known_claims
from colrun.claims.judge import Judged
from colrun.verdicts.verdict import DIVERGED, NO_DATA, NOT_REPRODUCED, REPRODUCED, VERDICTS, Number

STYLES = {REPRODUCED: "green", NOT_REPRODUCED: "bold red", DIVERGED: "magenta", NO_DATA: "dim"}
NARROW = 100


def amount(value: float, error: float, unit: str) -> str:
    """A number and its standard error, to the digits that the error leaves: `95.31 ± 0.12 %`, `1.48 ± 0.03`."""
    if not math.isfinite(value):
        return "–"
    scale, after = (100.0, f" {unit}") if unit else (1.0, "")
    if not math.isfinite(error):
        return f"{value * scale:.{4 if unit else 3}g}{after}"
    digits = 1 - math.floor(math.log10(error * scale)) if error else 1
    digits = min(max(digits, 0), 3 if unit else 6)
    return f"{value * scale:.{digits}f} ± {error * scale:.{digits}f}{after}"


def phrases(numbers: Iterable[Number]) -> list[tuple[str, list[Number]]]:
    """Numbers side by side that belong together."""
    return [(group, list(members)) for group, members in itertools.groupby(numbers, key=lambda number: number.group)]


def phrase(number: Number) -> str:
    """One number: `0.1 %: 4.21 ± 0.31 %`, with a mark if it speaks against the claim."""
    mark = " ✗" if number.holds is False and math.isfinite(number.value) else ""
    text = amount(number.value, number.error, number.unit)
    return (f"{number.label}: {text}" if number.label else text) + mark


def heading(group: str, members: list[Number]) -> str:
    """What is measured, the condition, and how many networks, where all have as many."""
    bound = next((number.bound for number in members if number.bound), "")
    counts = {number.n for number in members} - {None}
    n = f"n = {counts.pop()}" if len(counts) == 1 else f"n = {min(counts)} to {max(counts)}" if counts else ""  # type: ignore[type-var]
    inside = ", ".join(part for part in (bound, n) if part)
    return group + (f" ({inside})" if inside else "")


def lost(found: Judged) -> str:
    """How many rows diverged, if any."""
    verdict = found.verdict
    return f"{verdict.diverged} of {verdict.rows} rows in scope diverged" if verdict.diverged else ""


def evidence(found: Judged) -> list[str]:
    """Lines: one per group of numbers, then what is missing."""
    lines = [
        f"{heading(group, members)}: {', '.join(map(phrase, members))}"
        for group, members in phrases(found.verdict.numbers)
    ]
    return [*lines, *filter(None, [lost(found)]), *(f"note: {note}" for note in found.verdict.notes)]


def counts(judged: list[Judged]) -> str:
    """How many of each verdict."""
    ordered = sorted(judged, key=lambda one: VERDICTS.index(one.verdict.verdict))
    return ", ".join(f"{number} {word}" for word, number in Counter(one.word for one in ordered).items())


def show(judged: list[Judged], console: Console) -> None:
    """A table as wide as the terminal; on a narrow one, the numbers stand below each claim."""
    narrow, claims = console.width < NARROW, known_claims()
    table = Table(show_lines=True, expand=True, highlight=False)
    table.add_column("claim", width=None if narrow else 28, overflow="fold")
    if not narrow:
        table.add_column("reading", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("numbers, mean ± standard error", ratio=1, overflow="fold")
    for found in judged:
        verdict = Text(found.word, STYLES[found.verdict.verdict])
        title = Text.assemble((found.title, "bold"), "\n", (claims[found.claim].sentence, "italic dim"))
        body = Text("\n").join(_hanging(line) for line in evidence(found))
        if narrow:
            first = Text.assemble((found.title, "bold"), f" · {found.reading or 'any reading'} · ", verdict)
            cells: list[RenderableType] = [Group(first, Text(claims[found.claim].sentence, "italic dim"), body)]
        else:
            cells = [title, Text(found.reading or "–"), verdict, body]
        table.add_row(*cells)
    console.print(table)
    console.print(counts(judged))


def _hanging(line: str) -> Text:
    """Without spaces at which a number could break; what is measured is dim, numbers against the claim are red."""
    line = line.replace(" ± ", "±").replace(" %", "%").replace("% ✗", "%✗")
    text = Text(line)
    if line.startswith("note: "):
        text.stylize("yellow")
    else:
        text.stylize("dim", 0, line.find(": ") + 1)
        text.highlight_regex(r"[^,:]*✗", "red")
    return text


def lines(judged: list[Judged]) -> Iterable[str]:
    """For other programs: claim, reading, verdict and numbers with tabs between them, one line each."""
    for found in judged:
        yield "\t".join([found.title, found.reading or "-", found.word, "; ".join(evidence(found))])


def markdown(judged: list[Judged]) -> Iterable[str]:
    """A table for docs: one row per claim and reading; the numbers that decide, and those printed beside them."""
    yield "| claim | reading | verdict | numbers (mean ± standard error) |"
    yield "|---|---|---|---|"
    for found in judged:
        body = "<br>".join(evidence(found)).replace("|", "\\|")
        yield f"| `{found.claim}` | {found.reading or '–'} | **{found.verdict.verdict}** | {body} |"
