"""`colrun plot`, on real results of tiny networks."""

import json
import shutil
from pathlib import Path

import pytest

from colrun.figures.make import make
from colrun.store import kept
from colrun.store.kept import keep
from tests.runs import DECAY, TINY, colrun, files, write

SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
MORE = {
    **TINY,
    "estimators": ["master-user", "tbptt-1", "tbptt-3", "tbptt-block-3"],
    "columns": 4,
    "reading": ["text", "release"],
}
DRAWINGS = ["columns", "stop-gradient"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    path = write(folder, {**MORE, "name": "demo"})
    assert colrun("sweep", path, "-j", 1, "-q", "--out", folder).exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without kept results but those that a test puts there."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(kept, "kept_folders", lambda: [Path("results/paper")])
    return tmp_path / "here"


def test_all_formats(made: Path) -> None:
    result = colrun("plot", "demo", "--results", made, "--out", "deep/figures", "--format", "png, pdf,svg")
    assert result.exit_code == 0
    targets = [Path("deep/figures") / f"demo.{form}" for form in SIGNATURES]
    assert result.stdout.splitlines() == [str(target) for target in targets]
    assert result.stderr == f"demo: 120 rows from {made / 'demo'}\n"
    for target, signature in zip(targets, SIGNATURES.values(), strict=True):
        content = target.read_bytes()
        assert content.startswith(signature)
        assert len(content) > 8_000


def test_several_processes_draw_the_same_bytes(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["stop-gradient", "demo", "columns"]
    one = colrun("plot", *names, "--results", made, "--out", "one")
    monkeypatch.setattr("colrun.cli.plot.MANY", 2)
    monkeypatch.setattr("colrun.run.local.usable_cores", lambda: 2)
    several = colrun("plot", *names, "--results", made, "--out", "several")
    assert one.exit_code == several.exit_code == 0
    assert several.stdout == one.stdout.replace("one/", "several/")
    assert several.stderr == one.stderr
    for name in names:
        assert Path(f"several/{name}.png").read_bytes() == Path(f"one/{name}.png").read_bytes()
    wrong = colrun("plot", *names, "--results", "nothing", "--out", "wrong")
    assert wrong.exit_code == 2
    assert "figure demo has no data in nothing" in wrong.stderr
    assert not Path("wrong/demo.png").exists()


def test_without_a_name_all_that_have_data(made: Path) -> None:
    shutil.copytree(made / "demo", "results/demo", symlinks=True)
    result = colrun("plot", "--out", "figures")
    assert result.stdout.split() == [f"figures/{name}.png" for name in ("demo", *DRAWINGS)]
    alone = colrun("plot", "--metric", "cosine", "--out", "cosine")
    assert alone.stdout == "cosine/demo-cosine.png\n"


def test_kept_rows_where_there_are_no_others(made: Path) -> None:
    keep(made, "demo", "results/paper")
    Path("sweeps").mkdir()
    shutil.copy(made / "sweep.toml", "sweeps/demo.toml")
    result = colrun("plot", "demo", "--style", "talk")
    assert result.stdout == "figures/demo.png\n"
    assert result.stderr == "demo: 120 rows from results/paper/demo (kept results)\n"
    shutil.copytree(made / "demo", "results/demo", symlinks=True)
    assert colrun("plot", "demo").stderr == "demo: 120 rows from results/demo\n"


def test_a_sweep_of_ones_own_gets_the_figure_of_its_experiment(here: Path) -> None:
    for content, file in ((MORE, "own.toml"), (DECAY, "decay.toml")):
        content = {key: value for key, value in content.items() if key != "name"}
        path = write(here, {**content, "seeds": "0:2"}, file=file)
        assert colrun("sweep", path, "-j", 1, "-q").exit_code == 0
    result = colrun("plot", "own", "decay.toml")
    assert result.exit_code == 0
    assert result.stdout.split() == ["figures/own.png", "figures/decay.png"]
    assert colrun("plot", "own", "--metric", "cosine").stdout == "figures/own-cosine.png\n"
    assert colrun("plot", "--out", "all").stdout.split() == [f"all/{name}.png" for name in (*DRAWINGS, "decay", "own")]
    page = here / "report.html"
    assert colrun("report", "-o", page).exit_code == 0
    assert all(f'id="figure-{name}"' in page.read_text() for name in ("own", "decay"))


def test_how_many_of_how_many_is_by_the_sweep_file(made: Path) -> None:
    shutil.copytree(made / "demo", "results/demo", symlinks=True)
    Path("sweeps").mkdir()
    file = write(Path("sweeps"), {**MORE, "name": "demo", "seeds": "0:30"}, file="demo.toml")
    for run in Path("results/demo/_runs").iterdir():
        run.write_text(json.dumps(json.loads(run.read_text()) | {"sweep_path": str(file.absolute())}))
    figure, (rows,) = make("demo", "results")
    assert rows.folder == Path("results/demo")
    notes = [text.get_text() for ax in figure.axes for text in ax.texts if text.get_gid() == "note"]
    assert notes == ["n = 5 of 30"] * 2
    assert [text.get_text() for text in figure.texts] == ["incomplete: 30 of 180 networks"]


def test_styles_and_metrics_change_the_picture(made: Path) -> None:
    sizes = {style: make("demo", made, style)[0].get_size_inches()[0] for style in ("paper", "talk")}
    assert sizes["talk"] > 1.3 * sizes["paper"]
    labels = {make("demo", made, metric=metric)[0].axes[0].get_ylabel() for metric in ("alignment", "cosine")}
    assert labels == {"gradient alignment", "cosine with the true gradient"}


def test_bad_input(made: Path) -> None:
    Path("file").write_text("")
    Path("empty").mkdir()
    cases: list[tuple[list[object], str]] = [
        (["rnn-aligment", "--results", made], "'rnn-aligment' is not known"),
        (["demo", "--results", "empty"], "figure demo has no data in empty; run: colrun sweep demo"),
        (
            ["demo", "--results", made, "--format", "png,gif"],
            "format 'gif' is not known; it must be one of png, pdf, svg",
        ),
        (["demo", "--results", made, "--style", "poster"], "'poster' is not one of 'paper', 'talk'"),
        (["demo", "--results", made, "--metric", "size"], "'size' is not one of"),
        (["columns", "--metric", "mae"], "figure columns cannot show metric 'mae'; it has no choice of metric"),
        (["demo", "--results", made, "--out", "file"], "File exists"),
    ]
    for arguments, message in cases:
        result = colrun("plot", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert files(Path()) == ["empty", "file"]


def test_drawings_need_no_results() -> None:
    result = colrun("plot", "--results", "nowhere")
    assert result.exit_code == 0
    assert result.stdout.split() == [f"figures/{name}.png" for name in DRAWINGS]


def test_nothing_to_draw_is_no_error() -> None:
    result = colrun("plot", "--metric", "mae")
    assert result.exit_code == 0
    assert result.stdout == "no results to draw in results; start with: colrun sweep demo\n"


def test_rows_of_another_experiment_are_refused(here: Path) -> None:
    path = write(here, {**DECAY, "name": "demo", "seeds": "0:2"})
    assert colrun("sweep", path, "-j", 1).exit_code == 0
    result = colrun("plot", "demo")
    assert result.exit_code == 2
    assert "figure demo shows experiment alignment" in result.stderr
    assert "holds rows of decay" in result.stderr
    assert not Path("figures").exists()
