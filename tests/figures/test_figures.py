"""Every figure, on made-up results: nothing overlaps, nothing is too small, and what is missing is said."""

import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from colrun.drawing import FORMATS
from colrun.drawing.source import Source
from colrun.errors import InvalidValueError
from colrun.figures import known_figures
from colrun.figures.make import draw, save
from tests.figures.tables import source

FIGURES = {name: entry for name, entry in known_figures().items() if name != "learning"}  # tests/learning draws it


def texts(figure: Figure) -> list[Text]:
    """All that is written when the figure is drawn. Ticks beyond the limits have labels too, but are not drawn."""
    found: list[Text] = []
    with pytest.MonkeyPatch.context() as patch:
        plain = Text.draw

        def note(text: Text, renderer: RendererBase) -> None:
            found.append(text)
            plain(text, renderer)

        patch.setattr(Text, "draw", note)
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return [text for text in found if text.get_text().strip() and text.get_visible()]


def words(figure: Figure) -> str:
    """The same without drawing, and so without what stands at ticks."""
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for ax in figure.axes:
        found += [*ax.texts, ax.xaxis.label, ax.yaxis.label]
    return "\n".join(text.get_text() for text in found)


def heights(line: Line2D) -> NDArray[np.float64]:
    return np.asarray(line.get_ydata(), dtype=float)


@cache
def complete(name: str, style: str) -> Figure:
    """Drawn once for all tests: drawing is what takes time."""
    return draw(FIGURES[name], source(name, style, seeds="0:2"))


# Every kind in both styles, every figure in one: the others of a kind differ in their numbers only.
ONE_OF_EACH = ["step-size", "rnn-alignment-seeds", "meta-ablation", "state-decay", "rnn-grid", "grouping", "estimators",
               "cost", "tradeoff", "columns", "stop-gradient"]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "style"), [*((name, "paper") for name in FIGURES), *((name, "talk") for name in ONE_OF_EACH)]
)
def test_every_label_can_be_read(name: str, style: str) -> None:
    figure = complete(name, style)
    written = texts(figure)
    assert len(written) > 10
    assert min(float(text.get_fontsize()) for text in written) >= (7 if style == "paper" else 12)
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in written]  # of labels without their leaders
    width, height = figure.canvas.get_width_height()
    for text, box in boxes:
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.5, f"{text!r} leaves the figure"
    for (a, one), (b, other) in itertools.combinations(boxes, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        # Boxes hold room for accents and tails, which may touch; letters may not.
        assert wide <= 1 or high <= 0.25 * min(one.height, other.height), f"{a!r} and {b!r} overlap"


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("demo", "cosine"),
        ("demo", "norm_ratio"),
        ("demo", "mae"),
        ("rnn-alignment-seeds", "cosine"),
        ("rnn-grid", "mae"),
    ],
)
def test_other_metrics(name: str, metric: str) -> None:
    figure = draw(FIGURES[name], source(name, metric=metric, seeds="0:2"))
    label = {"cosine": "cosine", "norm_ratio": "norm", "mae": "error"}[metric]
    assert label in words(figure)
    assert figure.axes[0].get_yscale() == ("linear" if metric == "cosine" else "log")


def test_curves_are_means_and_bands_one_standard_error() -> None:
    given = source("rnn-alignment", seeds="0:2")
    ax = complete("rnn-alignment", "paper").axes[0]
    rows = given.frame[(given.frame["reading"] == "text") & (given.frame["estimator"] == "master-user")]
    wanted = rows.groupby("lateral")["alignment"].agg(["mean", "sem"])
    (line,) = [line for line in ax.lines if line.get_linewidth() == 2.2]
    assert heights(line).tolist() == pytest.approx(wanted["mean"].tolist())
    bands = [np.concatenate([np.asarray(path.vertices)[:, 1] for path in band.get_paths()]) for band in ax.collections]
    edges = set(np.round([*(wanted["mean"] - wanted["sem"]), *(wanted["mean"] + wanted["sem"])], 9))
    assert any(edges <= set(np.round(band, 9)) for band in bands)


def test_the_axis_is_logarithmic_in_percent_with_zero_and_dense_on_it() -> None:
    ax = complete("rnn-alignment", "paper").axes[0]
    assert ax.get_xscale() == "log"
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == ["0", "0.1", "0.3", "1", "3", "10", "30", "100", "300", "dense"]
    assert len(ax.get_xticks()) + len(ax.get_xticks(minor=True)) == 11
    assert ax.get_xticks()[-1] == 1900
    narrow = complete("rnn-alignment-seeds", "paper").axes[0]
    assert [tick.get_text() for tick in narrow.get_xticklabels()] == ["0", "1", "10", "dense"]


def test_window_numbers_stand_at_curve_ends_in_the_order_of_the_ends() -> None:
    ax = complete("rnn-alignment", "paper").axes[0]
    ends = [text for text in ax.texts if text.get_gid() == "end"]
    spots = {text.get_text(): text.xyann[1] for text in ends if isinstance(text, Annotation)}
    assert sorted(spots, key=spots.__getitem__) == ["MU", "1", "3", "5", "20", "40"]


def test_estimators_differ_in_grey() -> None:
    ax = complete("rnn-alignment", "paper").axes[0]
    curves = [line for line in ax.lines if len(heights(line)) == 11]
    looks = {(str(line.get_marker()), line.get_linestyle(), line.get_linewidth()) for line in curves}
    assert len(looks) == 11


def test_a_complete_figure_says_how_many() -> None:
    for name in FIGURES:
        if "alignment" in FIGURES[name].needs.values():
            said = words(complete(name, "paper"))
            assert "n = 2" in said
            assert "incomplete" not in said
            assert " of 2" not in said
            assert "diverged" not in said


@pytest.mark.parametrize("name", ["demo", "rnn-alignment-seeds", "meta-ablation", "state-decay", "rnn-grid"])
def test_an_incomplete_figure_says_so(name: str) -> None:
    given = source(name, seeds="0:3")
    ((sweep, frame),) = given.frames.items()
    plenty = frame["job"].nunique()
    fewer = frame[frame["seed"] < 2]
    said = words(draw(FIGURES[name], replace(given, frames={sweep: fewer})))
    assert "n = 2 of 3" in said
    assert f"incomplete: {plenty * 2 // 3:,} of {plenty:,} networks" in said


def test_unequal_counts_are_shown() -> None:
    given = source("rnn-alignment")
    frame = given.frame
    fewer = frame[~((frame["reading"] == "text") & (frame["lateral"] == 1) & (frame["seed"] > 0))]
    said = words(draw(FIGURES["rnn-alignment"], replace(given, frames={"rnn-alignment": fewer})))
    assert "n = 1 to 4 of 4" in said
    assert "incomplete: 85 of 88 networks" in said


def test_a_missing_estimator_is_an_incomplete_figure_too() -> None:
    given = source("rnn-alignment")
    frame = given.frame
    fewer = frame[~((frame["estimator"] == "tbptt") & (frame["window"] == 5) & (frame["seed"] == 1))]
    said = words(draw(FIGURES["rnn-alignment"], replace(given, frames={"rnn-alignment": fewer})))
    assert "n = 3 to 4 of 4" in said
    assert "incomplete: 22 of 88 networks lack estimators" in said


def diverging(given: Source, levels: list[float], seeds: int) -> Source:
    """The same with networks of the first seeds diverged in reading text at those levels, with absurd numbers."""
    ((sweep, frame),) = given.frames.items()
    frame = frame.copy()
    lost = (frame["reading"] == "text") & frame["lateral"].isin(levels) & (frame["seed"] < seeds)
    frame.loc[lost, "alignment"] = 99.0
    frame.loc[lost, "diverged"] = True
    return replace(given, frames={sweep: frame})


@pytest.mark.parametrize("name", ["rnn-alignment", "rnn-alignment-seeds", "rnn-grid"])
def test_diverged_networks_are_left_out_and_counted(name: str) -> None:
    figure = draw(FIGURES[name], diverging(source(name), [0.0, 0.1], 1))
    assert "diverged" in words(figure)
    drawn = [heights(line) for ax in figure.axes for line in ax.lines]
    assert max(np.nanmax(values) for values in drawn) <= 1.0
    if name == "rnn-alignment":
        assert [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "note"] == [
            "n = 4, 2 of 44 diverged"
        ]


def test_where_many_diverged_there_is_no_curve_to_trust() -> None:
    figure = draw(FIGURES["rnn-alignment"], diverging(source("rnn-alignment"), [0.0, 0.1], 1))
    (line,) = [line for line in figure.axes[0].lines if line.get_linewidth() == 2.2 and line.get_marker() == "None"]
    assert np.isnan(heights(line)).tolist() == [True, *[False] * 4, True, *[False] * 5]


def test_the_ablation_says_when_nearly_all_diverged() -> None:
    given = source("meta-ablation")
    frame = given.frame.copy()
    frame.loc[(frame["reading"] == "text") & (frame["step_size"] == 1e-2) & (frame["seed"] > 0), "diverged"] = True
    said = words(draw(FIGURES["meta-ablation"], replace(given, frames={"meta-ablation": frame})))
    assert "n = 4, 33 of 44 diverged" in said
    assert "75.0 % diverged" in said
    frame["diverged"] = True
    assert "100.0 % diverged" in words(draw(FIGURES["meta-ablation"], replace(given, frames={"meta-ablation": frame})))


def test_another_axis_that_varies_gets_panels_of_its_own_or_is_refused() -> None:
    given = source("demo")
    more = given.frame.assign(columns=20, job=given.frame["job"] + "x")
    both = given.frames["demo"].merge(more, how="outer")
    figure = draw(FIGURES["demo"], replace(given, frames={"demo": both}, plans={}))
    assert {"C = 10", "C = 20"} <= set(words(figure).splitlines())
    grid = source("rnn-grid")
    release = grid.frame.assign(reading="release")
    with pytest.raises(InvalidValueError, match="figure rnn-grid shows one reading, and its results hold 2"):
        draw(FIGURES["rnn-grid"], replace(grid, frames={"rnn-grid": grid.frame.merge(release, how="outer")}))


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("demo", "stop-gradient"):
        for copy in "ab":
            figure = draw(FIGURES[name], source(name, seeds="0:2"))
            for form in FORMATS:
                save(figure, tmp_path / f"{copy}.{form}")
        for form in FORMATS:
            content = (tmp_path / f"a.{form}").read_bytes()
            assert content == (tmp_path / f"b.{form}").read_bytes()
            for trace in (b"Date", b"date", b"matplotlib.org", b"Software"):
                assert trace not in content


def test_cost_shows_exponents_beside_those_of_theory() -> None:
    said = words(complete("cost", "paper"))
    assert "MU 1.00 (1)" in said
    assert "RTRL 2.00 (3)" in said  # as the made-up table has it, not as it is
    assert "my-own 1.00 (–)" in said


def test_tradeoff_marks_what_nothing_cheaper_beats() -> None:
    figure = complete("tradeoff", "paper")
    for level in ("1", "10", "100"):
        assert f"additive, {level} % lateral" in words(figure).splitlines()
    steps = [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]
    assert len(steps) == 1
    assert np.all(np.diff(heights(steps[0])) >= 0)


def test_the_dense_rnn_is_a_point_of_its_own() -> None:
    ax = complete("grouping", "paper").axes[0]
    assert [heights(line).tolist() for line in ax.lines if len(heights(line)) == 1] == [[0.55]]
    assert "random groups, dense RNN" in words(complete("grouping", "paper"))


def test_a_figure_without_a_plan_makes_no_promise() -> None:
    given = source("demo")
    said = words(draw(FIGURES["demo"], replace(given, plans={"demo": None})))
    assert "n = 4\n" in said + "\n"
    assert "incomplete" not in said
