"""`colrun report` on real results of tiny networks: what is in the file. tests/cluster opens it in a browser."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from colrun.claims import known_claims
from colrun.report.page import embedded
from tests.runs import DECAY, TINY, colrun, files, write

pytestmark = pytest.mark.usefixtures("alone")
EVIL = "</script><script>alert(1)</script>"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the kept results of the repository."""
    monkeypatch.setattr("colrun.store.kept.kept_folders", list)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    rnn = {**TINY, "name": "rnn-alignment", "columns": 4, "steps": 50, "inputs": 50, "description": EVIL}
    decay = {**DECAY, "name": "state-decay", "steps": 20, "bias": [True, False]}
    for sweep in (rnn, decay):
        path = write(folder, sweep, file=f"{sweep['name']}.toml")
        assert colrun("sweep", path, "-j", 1, "-q", "--out", folder / "results").exit_code == 0
    return folder / "results"


class Page(HTMLParser):
    """Addresses, ids and text of a page; fails where tags do not match."""

    VOID = frozenset({"meta", "link", "img", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text(made: Path) -> str:
    """The page, written into a folder that is not there yet."""
    target = made.parent / "deep" / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("colrun.store.kept.kept_folders", list)
        result = colrun("report", "--results", made, "-o", target)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{target} (")
    assert f"rnn-alignment: 30 rows from {made / 'rnn-alignment'}" in result.stderr
    return target.read_text(encoding="utf-8")


def test_the_page(text: str) -> None:
    assert len(text.encode()) < 10_000_000
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.attributes if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {f"claim-{name}" for name in known_claims()} <= set(ids)
    assert {"figure-rnn-alignment", "figure-state-decay", "explorer", "provenance"} <= set(ids)
    for tag, attributes in page.attributes:
        for name in ("src", "href"):
            if (address := attributes.get(name)) is not None:
                assert address.startswith(("#", "data:")), (tag, address)
                assert not address.startswith("#") or address[1:] in ids
        if tag == "img":
            assert attributes["alt"]
    assert "colrun plot rnn-alignment" in text
    assert "torch 2." in text
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data
    assert [s["columns"] for s in json.loads(data[1])["settings"]] == [4]


def test_text_of_others_is_escaped(text: str) -> None:
    assert "alert(1)" in text  # the sweep file's own text is shown
    assert EVIL not in text
    assert "<" not in embedded({"name": EVIL})
    assert json.loads(embedded({"name": EVIL})) == {"name": EVIL}


def test_same_rows_same_page(tmp_path: Path, made: Path, text: str) -> None:
    assert colrun("report", "--results", made, "-o", tmp_path / "again.html").exit_code == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_bad_input(tmp_path: Path, made: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments, message in [
        (["--results", tmp_path, "-o", tmp_path / "x.html"], "there are no results in"),
        (["--results", made, "-o", tmp_path], "it is a folder"),
        (["--results", made, "-o", tmp_path / "file" / "x.html"], "cannot write"),
    ]:
        result = colrun("report", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert files(tmp_path) == ["file"]
