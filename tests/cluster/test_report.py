"""The report in a real browser: no error, no request, choices, pointer, keyboard, phone, dark and light."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.chromium import Chromium, find
from tests.runs import DECAY, ROOT, TINY, colrun, write
from tests.test_plugins import EXAMPLE

SHAPES = {
    **TINY, "name": "rnn-alignment", "columns": [4, 6], "steps": 50, "inputs": 50, "reading": ["text", "release"],
    "estimators": ["master-user", "tbptt-1", "tbptt-40", "tbptt-block-40"], "lateral": ["0%", "10%", "100%", "dense"],
}  # fmt: skip
GATED = {**SHAPES, "name": "gru-alignment", "cell": "gru", "reading": "text", "columns": 4}
LEARNING = {**SHAPES, "name": "step-size", "cell": "feedforward", "reading": "text", "step_size": [1e-1, 1e-3]}
FADING = {**DECAY, "name": "state-decay", "steps": 20, "bias": [True, False]}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find() is None:
        assert not os.environ.get("CI"), "Chromium must be installed here"
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    folder = tmp_path_factory.mktemp("report")
    for sweep in (SHAPES, GATED, LEARNING, FADING):
        path = write(folder, sweep, file=f"{sweep['name']}.toml")
        assert colrun("sweep", path, "-j", 1, "-q", "--out", folder / "results").exit_code == 0
    path = folder / "report.html"
    with pytest.MonkeyPatch.context() as patch:  # without the kept results of the repository
        patch.setattr("colrun.store.kept.kept_folders", list)
        result = colrun("report", "--results", folder / "results", "-o", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def page(tmp_path: Path, report: Path) -> Iterator[Chromium]:
    with Chromium(tmp_path / "profile") as browser:
        browser.size(1280, 900)
        browser.open(report)
        yield browser
        assert browser.complaints == []
        assert [address for address in browser.requests if not address.startswith(("data:", "file:///"))] == []
        assert [address for address in browser.requests if address.startswith("file:")] == [report.resolve().as_uri()]


def curves(page: Chromium) -> dict[str, str]:
    """Every line on the chart by its estimator."""
    found: dict[str, str] = page.run(
        'Object.fromEntries([...document.querySelectorAll("#chart [data-curve]")].map('
        '(g) => [g.dataset.curve, g.querySelector(".curve").getAttribute("points")]))'
    )
    return found


def readout(page: Chromium) -> str:
    text: str = page.run('document.getElementById("readout").innerText')
    return text


def choose(page: Chromium, name: str, option: str) -> None:
    """Pick an option by its text, as a click on it does."""
    assert page.run(
        f"""(() => {{ const s = document.querySelector('#choices select[name="{name}"]');
        const o = [...s.options].find((o) => o.textContent === {option!r}); if (!o) return false;
        s.value = o.value; s.dispatchEvent(new Event("change", {{bubbles: true}})); return true; }})()"""
    )


def chosen(page: Chromium) -> dict[str, str]:
    found: dict[str, str] = page.run(
        'Object.fromEntries([...document.querySelectorAll("#choices select")].map('
        "(s) => [s.name, s.selectedOptions[0].text]))"
    )
    return found


def test_choices_change_the_curves(page: Chromium) -> None:
    seen = [curves(page)]
    assert set(seen[0]) == {"master-user", "tbptt-1", "tbptt-40", "tbptt-block-40"}
    assert all(points.count(",") == 4 for points in seen[0].values())  # one point per level
    for name, option in [
        ("reading", "release"), ("reading", "text"), ("columns", "6"), ("columns", "4"), ("cell", "gru"),
        ("cell", "feedforward"), ("step_size", "1e−1"), ("metric", "cosine of estimate and truth"),
        ("statistic", "median and quartiles"),
    ]:  # fmt: skip
        choose(page, name, option)
        assert chosen(page)[name] == option
        assert page.run("document.activeElement.name") == name  # focus stays where the reader is
        seen.append(curves(page))
        assert seen[-1] != seen[-2], name
    assert seen[2] == seen[0] == seen[4]


def test_what_does_not_exist_together_is_not_offered(page: Chromium) -> None:
    choose(page, "columns", "6")
    choose(page, "cell", "gru")  # of four columns only
    assert chosen(page)["columns"] == "4"
    options = page.run("""[...document.querySelector('select[name="reading"]').options].map((o) => o.text)""")
    assert options == ["text", "release"]
    choose(page, "reading", "release")  # of the additive cell only
    assert chosen(page)["cell"] == "additive"


def test_estimators_by_keyboard(page: Chromium) -> None:
    page.run("""document.querySelector('#choices input[value="tbptt-1"]').focus()""")
    page.key(" ")
    assert set(curves(page)) == {"master-user", "tbptt-40", "tbptt-block-40"}
    page.key(" ")
    assert len(curves(page)) == 4
    page.run("[...document.querySelectorAll('#choices button')].find((b) => b.textContent === 'none').click()")
    assert curves(page) == {}
    page.point("#chart", 0.5, 0.5)
    page.run("[...document.querySelectorAll('#choices button')].find((b) => b.textContent === 'all').click()")
    assert len(curves(page)) == 4


def test_values_on_hover(page: Chromium) -> None:
    assert readout(page) == ""
    page.point("#chart", 0.05, 0.5)
    first = readout(page)
    assert "Lateral connections: 0 %" in first
    assert "100.00 %" in first  # exact without laterals
    for name in ("master-user", "tbptt-1", "tbptt-40", "tbptt-block-40"):
        assert name in first
    page.point("#chart", 0.95, 0.5)
    assert "Lateral connections: dense" in readout(page)
    assert page.run('document.querySelector("#chart .guide").getAttribute("visibility")') == "visible"


def test_values_by_keyboard(page: Chromium) -> None:
    page.run("""document.querySelector('#choices button:last-of-type').focus()""")
    page.key("Tab")
    assert page.run("document.activeElement.id") == "chart"
    assert "Lateral connections: 0 %" in readout(page)
    page.key("ArrowRight")
    assert "Lateral connections: 10 %" in readout(page)
    page.key("End")
    assert "Lateral connections: dense" in readout(page)
    page.key("ArrowLeft")
    assert "Lateral connections: 100 %" in readout(page)
    page.key("ArrowDown")
    page.key("ArrowDown")
    assert page.run('document.querySelector("#readout .chosen th").textContent') == "tbptt-1"
    assert page.run('document.querySelectorAll("#chart g.faded").length') == 3
    page.key("Escape")
    assert readout(page) == ""
    assert page.run('document.querySelectorAll("#chart .faded").length') == 0


def test_a_claim_opens_by_keyboard(page: Chromium) -> None:
    page.run('document.querySelector("#claim-exact-without-lateral summary").focus()')
    page.key(" ")
    assert page.run('document.querySelector("#claim-exact-without-lateral").open')


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(page: Chromium, width: int) -> None:
    page.size(width, 800, phone=width < 700)
    page.run('document.querySelectorAll("details").forEach((d) => { d.open = true; })')
    page.point("#chart", 0.5, 0.5)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run('document.querySelector("#chart svg").getBoundingClientRect().right') <= width


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_can_be_read(page: Chromium, scheme: str) -> None:
    """Contrast by the WCAG formula: 4.5 for text, 3 for lines."""
    page.scheme(scheme)

    def contrast(selector: str, key: str, behind: str) -> float:
        of = "getComputedStyle(document.querySelector({!r})).{}"
        front, back = (luminance(page.run(of.format(*pair))) for pair in ((selector, key), (behind, "backgroundColor")))
        return (max(front, back) + 0.05) / (min(front, back) + 0.05)

    dark = luminance(page.run("getComputedStyle(document.body).backgroundColor")) < 0.5
    assert dark == (scheme == "dark")
    assert contrast("body", "color", "body") > 7
    for selector in (".kicker", ".help"):
        assert contrast(selector, "color", "body") > 4.5
    for verdict in ("reproduced", "not-reproduced", "no-data"):
        if page.run(f'document.querySelector(".verdict.{verdict}") !== null'):
            assert contrast(f".verdict.{verdict}", "color", f".verdict.{verdict}") > 4.5
    for name in curves(page):
        assert contrast(f'#chart [data-curve="{name}"] .curve', "stroke", "#chart") > 3


@pytest.fixture(scope="module")
def own_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a sweep of one's own, and of the paper's sweep with a plug-in beside the kept rows."""
    if find() is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    folder = tmp_path_factory.mktemp("own-report")
    plugin = folder / "faded.py"
    plugin.write_text(EXAMPLE, encoding="utf-8")
    own = {key: value for key, value in {**SHAPES, "estimators": ["master-user", "faded"]}.items() if key != "name"}
    asked = ["-j", 1, "-q", "--plugin", plugin, "--results", folder / "results"]
    assert colrun("sweep", write(folder, own, file="my-own.toml"), *asked).exit_code == 0
    few = ["--estimators", "faded", "--seeds", "0:3", "--lateral", "0%,1%", "--reading", "text"]
    assert colrun("sweep", "rnn-alignment", *asked, *few).exit_code == 0
    path = folder / "report.html"
    kept = folder / "kept" / "results" / "paper"
    shutil.copytree(ROOT / "results" / "paper" / "rnn-alignment", kept / "rnn-alignment")
    with pytest.MonkeyPatch.context() as patch:  # of the kept results those of one sweep
        patch.setattr("colrun.store.kept.kept_folders", lambda: [kept])
        result = colrun("report", "--results", folder / "results", "-o", path)
    assert result.exit_code == 0, result.output
    return path


def test_a_sweep_of_ones_own_and_a_plugin_beside_the_kept_rows(tmp_path: Path, own_report: Path) -> None:
    with Chromium(tmp_path / "profile") as page:
        page.size(1300, 900)
        page.open(own_report)
        width = page.run("""(async () => { const image = document.querySelector("#figure-my-own img");
            image.scrollIntoView(); await image.decode(); return image.naturalWidth; })()""")
        assert width > 300
        assert "my-own" in page.run('document.querySelector("nav").innerText')
        exact = page.run('document.querySelector("#claim-exact-without-lateral .verdicts").innerText')
        assert "text: reproduced" in exact
        assert "faded, text: does not hold" in exact
        said = page.run('document.querySelector("#provenance").textContent')
        assert "6 rows in" in said
        assert "results/paper/rnn-alignment (kept results)" in said
        places = page.run("""[...document.querySelectorAll(".claim > summary")].map((s) => {
            const [all, what, verdicts, sentence] = ["summary", ".what", ".verdicts", ".sentence"].map(
              (part) => (part === "summary" ? s : s.querySelector(part)).getBoundingClientRect());
            return [Math.abs(what.top - verdicts.top) < 8, all.right - verdicts.right < 24, sentence.width > 120,
              verdicts.right <= all.right]; })""")
        assert len(places) > 15
        assert all(all(place) for place in places), "badges stand beside their claim, at its right end"
        assert page.complaints == []
