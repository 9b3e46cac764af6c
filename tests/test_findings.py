"""What docs/differences.md says of the paper's own setting, on fewer networks than `python -m tests.findings` takes."""

import pytest

from tests.findings import ablation, diverged_share, whole_recurrence

SEEDS = range(20)


def test_the_recurrent_ablation_as_written_diverges() -> None:
    assert diverged_share(0.0, SEEDS) >= 0.9
    assert diverged_share(0.0, SEEDS, "release", 1e-3) == 0


def test_the_meta_gradient_matters_in_release() -> None:
    found = ablation(SEEDS)
    assert float(found["master-user"].mean()) == pytest.approx(0.969, abs=0.03)
    assert float(found["master-user-no-meta"].mean()) == pytest.approx(0.910, abs=0.04)
    assert float((found["master-user"] - found["master-user-no-meta"]).mean()) > 0.03


def test_masking_u_alone_makes_nothing_exact() -> None:
    assert float(whole_recurrence(SEEDS).mean()) == pytest.approx(0.581, abs=0.05)
