"""Plug-ins from before engine/forms.py, on a trajectory of tensors: they work for one more version."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from colrun.engine.batch import Batch, Drawn, Layers
from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.run import Partials, Run
from colrun.estimators.guarded_fast import check_count, check_names, check_shape
from colrun.estimators.legacy import StateCredit
from colrun.estimators.plugins import Plugin, PluginError


def as_tensors(value: Any) -> Any:
    """Arrays as tensors, wherever they are."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, dict):
        return {name: as_tensors(each) for name, each in value.items()}
    if isinstance(value, Partials):
        return Partials(*map(as_tensors, value))
    return AsTensors(value) if isinstance(value, Batch | Drawn | Layers) else value


class AsTensors:
    """What something of the engine offers, as tensors."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __getattr__(self, name: str) -> Any:
        return as_tensors(getattr(self.given, name))


class Trajectory(AsTensors):
    """A run, with the names and shapes that plug-ins knew: `h`, `w`, `delta`, `s`, `jacobian`, `own_jacobian`, …"""

    given: Run

    @property
    def steps(self) -> int:
        """T."""
        return self.given.shape[1]

    @property
    def z(self) -> Tensor:
        """(N, T, C, W)"""
        return torch.from_numpy(self.given.z)[..., :-1].transpose(1, 2)

    @property
    def f(self) -> Tensor:
        """(N, T, C, W)"""
        return torch.from_numpy(self.given.f).transpose(1, 2)

    @property
    def jacobian(self) -> Tensor:
        """(N, T, P, P)"""
        return torch.from_numpy(self.given.J)


class LegacyForm(FastForm):
    """Tensors in, tensors out."""

    def __init__(self, plugin: Plugin, inner: Any) -> None:
        self.plugin, self.inner = plugin, inner
        self.crosses = bool(getattr(inner, "crosses", True))  # type: ignore[misc]

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """As the plug-in gives them."""
        doing = "credits" if isinstance(self.inner, StateCredit) else "gradients"
        found = getattr(self.inner, doing)(Trajectory(run), windows)
        each = check_count(self.plugin, doing, found, len(windows), "windows")
        N, T, _ = run.shape
        for one in each:
            if isinstance(self.inner, StateCredit):
                check_shape(self.plugin, doing, one, (N, T, *run.s.shape[2:]))
            else:
                check_names(self.plugin, doing, one, {name: mask.shape for name, mask in run.batch.masks.items()})
        return [
            {name: value.detach().numpy() for name, value in one.items()}
            if isinstance(one, dict)
            else one.detach().numpy()
            for one in each
        ]


def legacy_fast(plugin: Plugin, inner: object) -> FastForm:
    """Warns once."""
    if not isinstance(inner, StateCredit) and not hasattr(inner, "gradients"):
        raise PluginError(
            f"{plugin.where}: {plugin.name} is a {type(inner).__name__}; it must be an instance of a subclass of "
            "colrun.engine.forms.FastForm."
        )
    _warn(f"{plugin.where}: {plugin.name}")
    return LegacyForm(plugin, inner)


@cache
def _warn(which: str) -> None:
    warnings.warn(
        f"{which} gives credits or gradients as tensors, which the next version will not take; make it a subclass of "
        "colrun.engine.forms.FastForm, whose `credits(run, windows)` gives arrays.",
        FutureWarning,
        stacklevel=2,
    )
