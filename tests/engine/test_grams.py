"""Inner products of inputs between steps, against the inputs written out weight by weight."""

import numpy as np
import pytest

from colrun.engine.batch import Batch
from colrun.engine.run import Run
from colrun.networks.architecture import Architecture
from colrun.networks.lateral import FEW

LEVELS: list[float | str] = [0.0, "20%", "150%", "dense"]  # none, listed, in part, all


@pytest.mark.parametrize("cell", ["additive", "gru", "feedforward"])
@pytest.mark.parametrize("reading", ["text", "release"])
@pytest.mark.parametrize("level", LEVELS)
def test_every_matrix(cell: str, reading: str, level: float | str) -> None:
    architecture = Architecture.of(cell, 8, 5, level, 4, reading)
    batch = Batch.draw(architecture, (0, 1), 6, "float64")
    run = Run(batch)
    found = run.grams
    for n, i in ((0, 0), (1, 3), (1, 7)):
        one = np.ones((6, 1))
        seen = [batch.layers.x[n], one]
        if architecture.sees_own_state:
            seen.append(run.h_tm1[n, :, i : i + 1])
        inputs = {"first": np.concatenate(seen, 1), "second": run.z[n, i]}
        assert np.array_equal(run.z[n, i, :, -1:], one)
        for name, value in inputs.items():
            assert np.allclose(getattr(found, name)[n, i], value @ value.T)
        for g in range(batch.U.shape[1]):
            features = run.f[n].swapaxes(0, 1).reshape(6, -1)[:, batch.U_exists[n, g, i].reshape(-1)]
            if architecture.switches.state_bias:
                features = np.concatenate([features, one], 1)
            assert np.allclose(found.a[n, g * 8 + i], features @ features.T)
            states = run.h_tm1[n][:, batch.R_exists[n, g, i]]
            assert np.allclose(found.r[n, g * 8 + i], states @ states.T)


def test_levels_meet_every_form_of_u() -> None:
    survival = [Architecture.of(columns=8, width=5, lateral=level).survival for level in LEVELS]
    assert survival[0] == 0 < survival[1] < FEW < survival[2] < survival[3] == 1
    assert len(Batch.draw(Architecture.of("gru", 8, 5, "20%", 4), (0, 1), 6, "float64").laterals[0]) > 10
