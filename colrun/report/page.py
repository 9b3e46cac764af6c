"""The page itself: everything in one file, nothing from anywhere else."""

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from colrun import __version__
from colrun.claims import known_claims
from colrun.claims.show import amount, counts, heading, lost, phrases
from colrun.report.gather import Content
from colrun.store.kept import Rows

HERE = Path(__file__).parent
SIGNS = {"reproduced": "✓", "not reproduced": "✗", "diverged": "↯", "no data": "–"}
"""So that a verdict is no matter of colour alone."""


def render(content: Content) -> str:
    """HTML. Names and notes are escaped by the template; data are JSON in which no tag can end."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["commas"] = lambda number: f"{number:,}"
    return environment.get_template("page.html").render(
        content=content,
        claims=rows_of_claims(content),
        counts=counts(list(content.claims)),
        signs=SIGNS,
        amount=lambda number: amount(number.value, number.error, number.unit),
        heading=heading,
        phrases=phrases,
        lost=lost,
        place=place,
        version=__version__,
        style=(HERE / "style.css").read_text(encoding="utf-8"),
        script=(HERE / "explorer.js").read_text(encoding="utf-8"),
        data=embedded(content.explorer),
    )


def rows_of_claims(content: Content) -> list[dict[str, Any]]:
    """One entry per claim with all its readings, and those of plug-ins that were asked the same."""
    return [
        {
            "name": name,
            "entry": entry,
            "judged": [found for found in (*content.claims, *content.others) if found.claim == name],
        }
        for name, entry in known_claims().items()
    ]


def place(rows: Rows) -> str:
    """Where rows are; kept ones as in the repository, wherever it lies on this machine."""
    kept = f"results/paper/{rows.sweep} (kept results)"
    shown = {"local": str(rows.local), "kept": kept}
    places = " and ".join(f"{rows.counts[name]:,} rows in {shown[name]}" for name in shown if rows.counts[name])
    return "; ".join(filter(None, (places, rows.beside)))


def embedded(data: object) -> str:
    """JSON for a script element: without `<`, nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c")
