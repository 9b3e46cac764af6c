"""`colrun plot`, on real results of tiny networks."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt

from colrun.figures import get_figure
from colrun.store.load import load
from tests.runs import DECAY, TINY, colrun, files, write

SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
MORE = {
    **TINY,
    "estimators": ["master-user", "tbptt-1", "tbptt-3", "tbptt-block-3"],
    "columns": 4,
    "reading": ["text", "release"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name in ("demo", "rnn-alignment"):
        assert colrun("sweep", write(folder, {**MORE, "name": name}), "-j", 1, "-q", "--out", folder).exit_code == 0
    return folder


@pytest.mark.parametrize("name", ["demo", "rnn-alignment"])
def test_all_formats(tmp_path: Path, made: Path, name: str) -> None:
    result = colrun("plot", name, "--results", made, "--out", tmp_path / "deep" / "figures", "--format", "png, pdf,svg")
    plt.close("all")
    assert result.exit_code == 0
    targets = [tmp_path / "deep" / "figures" / f"{name}.{form}" for form in SIGNATURES]
    assert result.stdout.splitlines() == [str(target) for target in targets]
    for target, signature in zip(targets, SIGNATURES.values(), strict=True):
        content = target.read_bytes()
        assert content.startswith(signature)
        assert len(content) > 8_000


def test_without_a_name_all_that_have_data(tmp_path: Path, made: Path) -> None:
    shutil.copytree(made / "demo", tmp_path / "results" / "demo", symlinks=True)
    result = colrun("plot", "--results", tmp_path / "results", "--out", tmp_path)
    plt.close("all")
    assert result.stdout == f"{tmp_path / 'demo.png'}\n"


def test_what_is_drawn(made: Path) -> None:
    frame = load(made / "rnn-alignment")
    figure = get_figure("rnn-alignment")(frame)
    plt.close(figure)
    assert [ax.get_title() for ax in figure.axes] == ["reading “text”", "reading “release”"]
    for ax, reading in zip(figure.axes, ("text", "release"), strict=True):
        assert len(ax.lines) == 4
        labels = {text.get_text() for text in ax.texts}
        assert {"Master-User", "1", "3"} <= labels
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "50", "dense"]
        assert ax.get_xscale() == "log"
        assert any("n = 5 networks per point" in label for label in labels)
        mine = frame[(frame["reading"] == reading) & (frame["estimator"] == "master-user") & ~frame["diverged"]]
        means = mine.groupby("lateral")["alignment"].mean().tolist()
        assert any(np.asarray(line.get_ydata()).tolist() == pytest.approx(means) for line in ax.lines)


def test_diverged_networks_are_left_out_and_counted(made: Path) -> None:
    frame = load(made / "demo")
    frame.loc[(frame["seed"] == 0) & (frame["reading"] == "text"), ["alignment", "diverged"]] = [99.0, True]
    figure = get_figure("demo")(frame)
    plt.close(figure)
    text, release = figure.axes
    assert max(np.max(np.asarray(line.get_ydata(), dtype=float)) for line in text.lines) <= 1.0
    assert any("3 diverged" in label.get_text() for label in text.texts)
    assert not any("diverged" in label.get_text() for label in release.texts)


def test_bad_input(tmp_path: Path, made: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments, message in [
        (["rnn-aligment", "--results", made], "'rnn-aligment' is not one of"),
        (["demo", "--results", tmp_path], f"figure demo has no data in {tmp_path}; run: colrun sweep demo"),
        (
            ["demo", "--results", made, "--format", "png,gif"],
            "format 'gif' is not known; it must be one of png, pdf, svg",
        ),
        (["demo", "--results", made, "--out", tmp_path / "file"], "File exists"),
    ]:
        result = colrun("plot", *arguments)
        plt.close("all")
        assert result.exit_code == 2
        assert message in result.stderr
        assert files(tmp_path) == ["file"]


def test_nothing_to_draw_is_no_error(tmp_path: Path) -> None:
    result = colrun("plot", "--results", tmp_path)
    assert result.exit_code == 0
    assert result.stdout == f"no results to draw in {tmp_path}; start with: colrun sweep demo\n"


def test_rows_of_another_experiment_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {**DECAY, "name": "demo", "seeds": "0:2"})
    assert colrun("sweep", path, "-j", 1, "--out", tmp_path).exit_code == 0
    result = colrun("plot", "demo", "--results", tmp_path, "--out", tmp_path / "figures")
    assert result.exit_code == 2
    assert "figure demo shows experiment alignment" in result.stderr
    assert "holds rows of decay" in result.stderr
    assert not (tmp_path / "figures").exists()
