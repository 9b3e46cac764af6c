"""A plug-in that has an online form and no fast one, as the engine can ask it: network by network, step by step."""

import warnings
from collections.abc import Iterator
from functools import cache

import numpy as np
import torch

from colrun.engine.batch import Batch
from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.run import Run
from colrun.estimators import EstimatorName
from colrun.estimators.guarded import guarded_online
from colrun.estimators.online import run as run_online
from colrun.estimators.plugins import Plugin
from colrun.networks.cells import CELLS
from colrun.networks.columnar import ColumnarNetwork
from colrun.testbed import Sequence


class OnlineAlone(FastForm):
    """Its gradients, one network after another."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        _say(self.plugin.where, self.plugin.name)
        shown = list(networks_of(run.batch))
        found: list[Credit | Gradients] = []
        for window in windows:
            online = guarded_online(self.plugin, EstimatorName(self.plugin.name, window), 0)
            each = [run_online(online, network, sequence, run.step_size).gradient for network, sequence in shown]
            found.append({name: np.stack([one[name].detach().numpy() for one in each]) for name in each[0]})
        return found


@cache
def _say(where: str, name: str) -> None:
    warnings.warn(f"{where}: {name} has no fast form, so its online form runs, which takes longer.", stacklevel=2)


def networks_of(batch: Batch) -> Iterator[tuple[ColumnarNetwork, Sequence]]:
    """The networks of a batch in torch, each with what it is shown."""
    layers, architecture = batch.layers, batch.architecture
    A = np.concatenate([layers.A_x, layers.A_h[..., None]], -1) if architecture.sees_own_state else layers.A_x
    theta = {"A": A, "b": layers.b, "B": layers.B, "c": layers.c}
    for g, gate in enumerate(CELLS[architecture.cell].gates):
        by_kind = {"U": batch.U, "R": batch.R, "q": batch.q}
        theta |= {f"{kind}.{gate}": value[:, g] for kind, value in by_kind.items() if f"{kind}.{gate}" in batch.masks}
    for n, seed in enumerate(batch.seeds):
        own = {name: torch.tensor(theta[name][n]) for name in batch.masks}
        masks = {name: torch.tensor(mask[n]) for name, mask in batch.masks.items()}
        x, y = torch.tensor(layers.x[n]), torch.tensor(layers.y[n])
        yield ColumnarNetwork(architecture, seed, own, masks, torch.tensor(layers.w[n])), Sequence(x, y)
