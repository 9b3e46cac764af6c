"""The peer in JAX measures what colrun measures, seed by seed on the same weights."""

import numpy as np
import pytest

from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.estimators import fast_forms, parse_estimator
from colrun.networks.architecture import Architecture

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'colrun[bench]'")


@pytest.mark.parametrize("lateral", ["0%", "10%", "dense"])
def test_the_peer_gives_the_engines_metrics(lateral: str) -> None:
    from benchmarks.jax_peer import Weights, measure_all

    windows = (1, 3, 5, 20, 40)
    batch = Batch.draw(Architecture.of(columns=6, width=10, lateral=lateral), (0, 1, 2), 30, "float32")
    layers = batch.layers
    given = (
        layers.A_x, layers.A_h, layers.B, batch.U[:, 0], batch.R[:, 0], batch.U_exists[:, 0], batch.R_exists[:, 0],
        layers.w, layers.x, layers.y,
    )  # fmt: skip
    found = measure_all(Weights(*map(jax.numpy.asarray, given)), windows)
    names = [parse_estimator(name) for name in ("master-user", *(f"tbptt-{k}" for k in windows))]
    engine = measure(batch, fast_forms(names))
    for n, name in enumerate(names):
        for metric, values in found.items():
            wanted = engine[name][metric]
            scale = engine[name]["mean_abs_truth"] if metric == "mae" else 1.0
            assert np.allclose(np.asarray(values)[:, n] / scale, wanted / scale, rtol=1e-4, atol=2e-3), (name, metric)
