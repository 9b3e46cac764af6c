"""`colrun bench`."""

import json

import pytest

from tests.runs import colrun

SMALL = ("bench", "--columns", 4, "--width", 5, "--steps", 8, "--no-growth")


def test_json_holds_every_figure() -> None:
    result = colrun(*SMALL, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["shape"]["networks_per_batch"] == 100
    assert found["plain_ratio"] > found["vectorised_ratio"] > 1
    assert 0 < found["share_of_peak"] < 1
    assert found["networks_per_second"] * found["engine_seconds_per_network"] == pytest.approx(1)
    assert set(found["stages_seconds_per_network"]) == {
        *("drawing", "forward and Jacobian", "credits", "gradients and metrics")
    }


def test_text() -> None:
    result = colrun(*SMALL, "--no-plain", "--lateral", "dense")
    assert result.exit_code == 0
    assert "times as fast" in result.stdout
    assert "plain" not in result.stdout


def test_bad_input() -> None:
    for options in (["--width", "0"], ["--estimators", "tbptt-block-3"], ["--lateral", "99"], ["--steps", "0"]):
        result = colrun("bench", *options)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
