"""The table of docs/reproduction.md. `python -m tests.reproduction` writes it again from the results that there are."""

import re
import sys
from pathlib import Path

from colrun.claims.judge import judge, sources
from colrun.claims.show import counts, markdown

DOC = Path(__file__).parents[1] / "docs" / "reproduction.md"
BEGIN, END = "<!-- begin: python -m tests.reproduction -->", "<!-- end -->"


def table(results: Path) -> str:
    """Verdicts and numbers, and how many of each."""
    judged = list(judge({sweep: rows.load() for sweep, rows in sources(results).items()}))
    return "\n".join([f"{counts(judged)[0].upper()}{counts(judged)[1:]}.", "", *markdown(judged)])


def written() -> str:
    """What the page says now."""
    found = re.search(f"{re.escape(BEGIN)}\n(.*?)\n{re.escape(END)}", DOC.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{DOC} has lost its marks"
    return found[1]


if __name__ == "__main__":
    before, after = written(), table(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
    DOC.write_text(DOC.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
