"""Sweep files: what they may say, and what is answered when they say something else."""

from pathlib import Path
from typing import Any

import pytest

from colrun.errors import InvalidValueError
from colrun.sweep.file import Sweep, check_name, parse_sweep, read_sweep
from colrun.sweep.plan import entries
from tests.runs import DECAY, TINY, colrun, files, write


def parse(content: dict[str, Any], **replaced: Any) -> Sweep:
    return parse_sweep(content, "x.toml", "", replaced)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colums": 3}, r"x\.toml: key of experiment alignment: 'colums' is not known; .*Did you mean 'columns'\?"),
        ({"hidden": 3}, r"x\.toml: key of experiment alignment: 'hidden' is not known; .*one of reading, cell"),
        ({"columns": "three"}, r"x\.toml: columns is 'three'; it must be a whole number from 1 to 1000000"),
        ({"columns": 0}, r"columns is 0; it must be a whole number from 1"),
        ({"columns": -1}, r"columns is -1; it must be"),
        ({"columns": 1000001}, r"columns is 1000001; it must be"),
        ({"columns": 2.0}, r"columns is 2\.0; it must be"),
        ({"columns": True}, r"columns is True; it must be"),
        ({"grid": []}, r"grid is empty; give at least one table"),
        ({"columns": []}, r"columns is an empty list; give at least one value, or leave the key out"),
        ({"columns": [[3]]}, r"columns is \[3\]; it must be"),
        ({"columns": {"a": 1}}, r"columns is \{'a': 1\}; it must be"),
        ({"columns": 0xF**9000}, r"columns is a number of about [0-9]+ digits; it must be"),
        ({"columns": "9" * 6000}, r"columns is '999.*…9+'; it must be"),
        ({"steps": 0}, r"steps is 0; it must be"),
        ({"width": [2, "x"]}, r"width is 'x'; it must be"),
        ({"lateral": "10 per cent"}, r"lateral level '10 per cent' must be a percentage \(\"10%\"\), a ratio"),
        ({"lateral": -0.1}, r"lateral level -0\.1 must be"),
        ({"lateral": [float("nan")]}, r"lateral level nan must be"),
        ({"lateral": True}, r"lateral level True must be"),
        ({"lateral": "1e999999999999999999%"}, r"lateral level '1e9+%' must be"),
        ({"step_size": 0}, r"step_size is 0; it must be a finite number above 0, or \"none\" for a fixed w"),
        ({"step_size": [0.1, float("inf")]}, r"step_size is inf; it must be"),
        ({"step_size": 10**400}, r"step_size is 1000.*; it must be"),
        ({"own_state": 1}, r"own_state is 1; it must be true or false"),
        ({"own_state": "maybe"}, r"own_state is 'maybe'; it must be true or false"),
        ({"dtype": "float16"}, r"dtype 'float16' is not known; it must be one of float32, float64"),
        ({"reading": "code"}, r"reading 'code' is not known; it must be one of text, release"),
        ({"cell": "gruu"}, r"cell 'gruu' is not known; .*Did you mean 'gru'\?"),
        ({"cell": 3}, r"cell 3 is not known"),
        ({"experiment": "alignement"}, r"experiment 'alignement' is not known; .*Did you mean 'alignment'\?"),
        ({"experiment": ["alignment"]}, r"experiment is \['alignment'\]; it must be a string"),
        ({"description": 3}, r"description is 3; it must be a string"),
        ({"estimators": []}, r"estimators is missing or empty; give a list such as \[\"master-user\", \"tbptt-40\"\]"),
        ({"estimators": ["tbptt"]}, r"estimator 'tbptt' needs a window, such as tbptt-40"),
        ({"estimators": ["tbptt-0"]}, r"window 0 of estimator 'tbptt-0' must be 1 or more"),
        ({"estimators": ["tbptt-9" + "9" * 30]}, r"estimator 'tbptt-9+' has a window above 10{18};"),
        ({"estimators": [3]}, r"estimators is \[3\]; it must be a list of names"),
        ({"estimators": ["master-usr"]}, r"estimator 'master-usr' is not known; .*Did you mean 'master-user'\?"),
        ({"seeds": "5:5"}, r"seeds '5:5' hold an empty range; it must be a half-open range such as \"0:100\""),
        ({"seeds": []}, r"seeds \[\] are empty"),
        ({"seeds": "0:x"}, r"seeds '0:x' cannot be read"),
        ({"seeds": -1}, r"seeds -1 cannot be read"),
        ({"seeds": [0, 2.5]}, r"seeds \[0, 2\.5\] cannot be read"),
        ({"seeds": 10**18}, r"seeds 10{18} are too large; they must be below 10\^18"),
        ({"seeds": "0:1000000000000000001"}, r"seeds '0:10{17}1' are too large"),
        ({"name": 3}, r"name is 3; it must be a string such as"),
        ({"grid": 3}, r"grid must be a table \[grid\] or several tables \[\[grid\]\]"),
        ({"grid": [3]}, r"grid must be a table"),
        ({"grid": {"name": "x"}}, r"name belongs at the top of the file, not in a grid"),
        ({"grid": [{}, {"experiment": "decay"}]}, r"experiment belongs at the top of the file"),
        ({"grid": [{}, {"colums": 3}]}, r"x\.toml: grid 2: key of experiment alignment: 'colums' is not known"),
        ({"grid": {"width": []}}, r"x\.toml: width is an empty list"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_key_and_what_would_be_right(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message) as error:
        parse({**TINY, **change})
    assert str(error.value).startswith("x.toml: ")
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("key", ["name", "seeds", "estimators"])
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(InvalidValueError, match=rf"x\.toml: {key} is missing"):
        parse({k: v for k, v in TINY.items() if k != key})


def test_decay_takes_no_estimators() -> None:
    with pytest.raises(InvalidValueError, match="key of experiment decay: 'estimators' is not known"):
        parse({**DECAY, "estimators": ["bptt"]})
    assert parse(DECAY).grids[0].estimators == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name = 3 4\n", r"s\.toml: is not valid TOML: .*line 1"),
        (b"name = 'a'\nname = 'b'", r"s\.toml: is not valid TOML"),
        (b"name = \"\xff\"", r"s\.toml: is not UTF-8 text"),
        (b"a = " + b"[" * 100_000, r"s\.toml: (cannot be read|is not valid TOML)"),
        (b"columns = " + b"9" * 5000, r"s\.toml: (cannot be read|is not valid TOML)"),
        (b"#" * 10_000_001, r"s\.toml: is larger than 10 MB"),
        (b"", r"s\.toml: seeds is missing"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_sweep(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "s.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidValueError, match=message):
        read_sweep(str(path))


@pytest.mark.parametrize("name", ["gone.toml", "sweeps/gone", "a\0b", "no/such/place.toml", "x" * 5000, "", "..", "-"])
def test_a_sweep_that_is_not_there(name: str) -> None:
    with pytest.raises(InvalidValueError, match="rnn-alignment"):  # names those that are
        read_sweep(name)


ESCAPES = [
    "a b", "a'b", 'a"b', "a;b", "..", "../up", "a/../../b", "-rf", "--", "/tmp/x", "a/b", "a\\b", "nul\0", "x" * 101,
    "", ".", ".hidden", "_runs", "a..b", "$(id)", "`id`", "a\nb", "a\n", "é", "~", "*", "a|b", "a&b", "C:", "\u202ea",
]  # fmt: skip


@pytest.mark.parametrize("name", ESCAPES)
def test_a_name_cannot_leave_the_results_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValueError, match="must start with a letter or digit"):
        check_name(name)
    with pytest.raises(InvalidValueError, match=r"^x\.toml: name"):
        parse({**TINY, "name": name})
    before = files(tmp_path)
    result = colrun("sweep", write(tmp_path, TINY, file="ok.toml"), "--name", name, "--out", tmp_path / "out", "-j", 1)
    assert result.exit_code == 2
    assert "must start with a letter or digit" in result.stderr
    assert files(tmp_path) == [*before, "ok.toml"]


@pytest.mark.parametrize("name", ["a", "0", "rnn-alignment", "A.b_c-9", "x" * 100])
def test_names_that_are_allowed(name: str) -> None:
    assert check_name(name) == name


def test_keys_may_stand_at_the_top_or_in_a_grid_and_the_grid_wins() -> None:
    top = parse({**TINY, "grid": {}})
    below = parse({"name": "tiny", "grid": {k: v for k, v in TINY.items() if k != "name"}})
    assert top.grids == below.grids
    grid = parse({**TINY, "grid": {"width": [7, 8]}}).grids[0]
    assert grid.values["width"] == [7, 8]
    assert grid.values["columns"] == [3, 4]


def test_the_command_line_replaces_what_top_and_grid_say() -> None:
    sweep = parse({**TINY, "grid": [{"width": 7}, {"seeds": "5:6"}]}, width=["9"], seeds="1:3", estimators=["bptt"])
    for grid in sweep.grids:
        assert grid.values["width"] == [9]
        assert list(grid.seeds) == [1, 2]
        assert grid.estimators == ("bptt",)


def test_values_are_canonical_whatever_their_spelling() -> None:
    texts = parse(
        {**TINY, "lateral": ["30%", "0.3", " 30% "], "own_state": ["true", "yes"]}, step_size=["1e-2", "0.01"]
    )
    numbers = parse({**TINY, "lateral": 0.3, "step_size": 0.01, "own_state": True})
    assert texts.grids == numbers.grids
    assert parse({**TINY, "step_size": "none"}).grids == parse(TINY).grids


def test_all_mistakes_of_a_file_are_said_at_once() -> None:
    wrong = {**TINY, "colums": 3, "width": 0, "cell": "GRU", "seeds": 50, "estimators": ["tbptt"], "steps": "8"}
    with pytest.raises(InvalidValueError) as error:
        parse(wrong)
    lines = str(error.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["x.toml"] * 6
    assert "'colums' is not known" in lines[0]
    assert lines[1].endswith("Did you mean 'gru'?")
    assert "width is 0" in lines[2]
    assert lines[3] == 'x.toml: steps is "8", which is text; write the number without quotes: 8.'
    assert 'write "0:50" for 50 networks, or [50] for that seed alone' in lines[4]
    assert "needs a window" in lines[5]


def test_a_bare_number_that_may_have_been_meant_as_percent_is_explained() -> None:
    assert parse({**TINY, "lateral": ["5%", 0.5, "dense", 0]}).notes == ()
    assert parse({**TINY, "lateral": [5, "2", 0.1]}).notes == (
        'lateral 5 is a ratio, 500 percent; write "5%" for 5 percent, "500%" if it is meant',
        'lateral 2 is a ratio, 200 percent; write "2%" for 2 percent, "200%" if it is meant',
    )


def test_a_sweep_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, {key: value for key, value in TINY.items() if key != "name"}, file="own-one.toml")
    assert read_sweep(str(path)).name == "own-one"


def test_zero_has_one_sign() -> None:
    # -0.0 equals 0.0 but is written otherwise, and would be another job.
    (one,) = {e.id for e in entries(parse({**TINY, "columns": 3, "lateral": "-0%"}))}
    (two,) = {e.id for e in entries(parse({**TINY, "columns": 3, "lateral": 0}))}
    assert one == two


def test_estimators_and_values_given_twice_are_one() -> None:
    grid = parse({**TINY, "estimators": ["tbptt-3", "tbptt-03", "bptt", "tbptt-3"], "width": [2, 3, 2]}).grids[0]
    assert grid.estimators == ("tbptt-3", "bptt")
    assert grid.values["width"] == [2, 3]


def test_a_byte_order_mark_of_an_editor_is_no_mistake(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_sweep(str(path)).name == "tiny"
