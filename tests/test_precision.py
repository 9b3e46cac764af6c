"""float32, in which sweeps run, against float64 at the paper's size. The figures stand in docs/numerics.md."""

import numpy as np
import pytest

from tests.precision import SETTINGS, differences


@pytest.mark.parametrize("setting", SETTINGS)
def test_float32_alignment_is_that_of_float64(setting: str) -> None:
    """On 100 networks of the text's recurrent setting, the one that sweeps run most, and on fewer of the others."""
    architecture, step_size = SETTINGS[setting]
    seeds = range(100) if setting.startswith("additive, text") else range(20)
    for name, difference in differences(architecture, seeds, step_size).items():
        assert len(difference) == len(seeds)
        assert abs(float(difference.mean())) < 0.001, name
        assert float((np.abs(difference) <= 0.005).mean()) >= 0.99, name
        assert np.isfinite(difference).all()
