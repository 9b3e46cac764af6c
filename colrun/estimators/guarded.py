"""A plug-in's estimator, watched: whatever it raises or returns wrong is said with the plug-in's name."""

import warnings
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Several
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor

from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName
from colrun.estimators.base import Estimator, StateCredit
from colrun.estimators.legacy import FromLegacy
from colrun.estimators.online import Online, Step
from colrun.estimators.plugins import Plugin, PluginError
from colrun.networks.base import Gradients, Network, Theta
from colrun.networks.dense import DenseBatch
from colrun.networks.trajectory import Trajectory
from colrun.readout import Readout

if TYPE_CHECKING:
    from colrun.compiled import Compiled


@contextmanager
def _named(plugin: Plugin, doing: str) -> Iterator[None]:
    try:
        yield
    except InvalidValueError:  # a sentence for the user already, by colrun or by the plug-in
        raise
    except Exception as error:  # it is someone else's code: anything can happen
        raise PluginError(
            f"{plugin.where}: {doing} of {plugin.name} raised {type(error).__name__}: {error}."
        ) from error


def _check(plugin: Plugin, doing: str, found: object, wanted: dict[str, tuple[int, ...]]) -> Gradients:
    """`found` has these names and shapes."""
    if not isinstance(found, dict) or found.keys() != wanted.keys():
        names = ", ".join(map(str, found)) if isinstance(found, dict) else type(found).__name__
        raise PluginError(f"{plugin.where}: {doing} of {plugin.name} gave {names}, and not {', '.join(wanted)}.")
    for name, shape in wanted.items():
        _check_shape(plugin, f"{name} in {doing}", found[name], shape)
    return found


def _check_shape(plugin: Plugin, what: str, found: object, shape: tuple[int, ...]) -> None:
    if not isinstance(found, Tensor) or tuple(found.shape) != shape:
        given = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise PluginError(f"{plugin.where}: {what} of {plugin.name} has shape {given}, and must have {shape}.")


def _count(plugin: Plugin, doing: str, found: object, windows: Several[int | None]) -> list[Any]:
    if not isinstance(found, list | tuple) or len(found) != len(windows):
        raise PluginError(f"{plugin.where}: {doing} of {plugin.name} must give a list, one for each of its windows.")
    return list(found)


@dataclass(frozen=True)
class GuardedOnline(Online[Any]):
    """The online form of a plug-in."""

    plugin: Plugin = field(kw_only=True)
    inner: Online[Any] = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "takes_lists", bool(self.inner.takes_lists))

    def init(
        self, network: Network, step_size: float | None = None, meta: bool | None = None, bias: bool = False
    ) -> Any:
        """As the plug-in does."""
        with _named(self.plugin, "online" if isinstance(self.inner, FromLegacy) else "init"):
            return self.inner.init(network, step_size, meta, bias)

    def start(self, readout: Readout) -> Any:
        return self.inner.start(readout)

    def step(self, memory: Any, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True) -> tuple[Any, Step]:
        """As the plug-in does, checked."""
        with _named(self.plugin, "step"):
            memory, step = self.inner.step(memory, theta, x_t, y_t, counted)
        return memory, step._replace(gradient=self._checked("step", step.gradient, theta))

    def finish(self, memory: Any) -> Gradients:
        """As the plug-in does, checked."""
        with _named(self.plugin, "finish"):
            found = self.inner.finish(memory)
        return self._checked("finish", found, memory.readout.network.theta)

    def _checked(self, doing: str, found: Gradients, theta: Theta) -> Gradients:
        return found if found == {} else _check(self.plugin, doing, found, _shapes(theta))


def _shapes(tensors: dict[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in tensors.items()}


class _Guarded(Estimator):
    def __init__(self, plugin: Plugin, inner: Any) -> None:
        self.plugin, self.inner = plugin, inner
        self.needs_columns = bool(inner.needs_columns)  # type: ignore[misc]
        self.undefined = dict(inner.undefined)  # type: ignore[misc]

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """The plug-in's, checked."""
        with _named(self.plugin, "gradients"):
            found = self.inner.gradients(trajectory, windows)
        wanted = _shapes(trajectory.batch.masks)
        return [
            _check(self.plugin, "gradients", each, wanted) for each in _count(self.plugin, "gradients", found, windows)
        ]

    def dense_gradients(self, batch: DenseBatch, step_size: float | None) -> Gradients | None:
        """The plug-in's, checked."""
        with _named(self.plugin, "dense_gradients"):
            found = self.inner.dense_gradients(batch, step_size)
        return None if found is None else _check(self.plugin, "dense_gradients", found, _shapes(batch.theta))


class _GuardedCredit(_Guarded, StateCredit):
    def __init__(self, plugin: Plugin, inner: StateCredit) -> None:
        super().__init__(plugin, inner)
        self.crosses = bool(inner.crosses)  # type: ignore[misc]

    def credits(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Tensor]:
        """The plug-in's, checked."""
        return self._checked(trajectory, windows, self.inner.credits)

    def compiled_credits(self, run: "Compiled", windows: Several[int | None]) -> list[Tensor]:
        """The same: kernels of a plug-in's own would be its own affair."""
        return self.credits(run.trajectory, windows)

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """By the contraction that all share."""
        return StateCredit.gradients(self, trajectory, windows)

    def _checked(
        self, trajectory: Trajectory, windows: Several[int | None], credits: Callable[..., object]
    ) -> list[Tensor]:
        with _named(self.plugin, "credits"):
            found = _count(self.plugin, "credits", credits(trajectory, windows), windows)
        N, T, C = trajectory.h.shape
        for credit in found:
            _check_shape(self.plugin, "credits", credit, (N, T, trajectory.s.shape[2], C))
        return [credit.to(trajectory.h.dtype) for credit in found]


def guarded(plugin: Plugin) -> Estimator:
    """The estimator of a plug-in, imported."""
    inner = plugin.load()
    if not isinstance(inner, Estimator):
        raise PluginError(
            f"{plugin.where}: {plugin.name} is a {type(inner).__name__}; it must be an instance of a subclass of "
            "colrun.estimators.base.StateCredit or Estimator."
        )
    return _GuardedCredit(plugin, inner) if isinstance(inner, StateCredit) else _Guarded(plugin, inner)


_warned: set[str] = set()


def guarded_online(plugin: Plugin, name: EstimatorName, draw: int) -> Online[Any]:
    """The online form of a plug-in, imported; one that was written for version 0.1 is adapted, with a warning."""
    found = plugin.load_online()
    if found is not None:
        with _named(plugin, "the online form"):
            inner = found(name, draw)
        if not isinstance(inner, Online):
            raise PluginError(
                f"{plugin.where}: {plugin.name} in ONLINE makes a {type(inner).__name__}; it must be a subclass of "
                "colrun.estimators.online.Online."
            )
    else:
        estimator: Any = plugin.load()
        if not callable(getattr(estimator, "online", None)):
            raise PluginError(
                f"{plugin.where}: {plugin.name} has no online form; it needs a table ONLINE with that name in it."
            )
        if plugin.where not in _warned:
            _warned.add(plugin.where)
            warnings.warn(
                f"{plugin.where} was written for version 0.1: its `online` runs for the last time in this version; "
                "give its online form in a table ONLINE, as CONTRIBUTING.md shows.",
                FutureWarning,
                stacklevel=3,
            )
        inner = FromLegacy(name, draw, estimator=estimator)
    return GuardedOnline(name, draw, plugin=plugin, inner=inner)
