"""A plug-in's online form, watched: whatever it raises or returns wrong is said with the plug-in's name."""

import warnings
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from colrun.estimators import EstimatorName
from colrun.estimators.guarded_fast import check_names, named
from colrun.estimators.legacy import FromLegacy
from colrun.estimators.online import Online, Step
from colrun.estimators.plugins import Plugin, PluginError
from colrun.networks.base import Gradients, Network, Theta
from colrun.readout import Readout


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
        with named(self.plugin, "online" if isinstance(self.inner, FromLegacy) else "init"):
            return self.inner.init(network, step_size, meta, bias)

    def start(self, readout: Readout) -> Any:
        return self.inner.start(readout)

    def step(self, memory: Any, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True) -> tuple[Any, Step]:
        """As the plug-in does, checked."""
        with named(self.plugin, "step"):
            memory, step = self.inner.step(memory, theta, x_t, y_t, counted)
        return memory, step._replace(gradient=self._checked("step", step.gradient, theta))

    def finish(self, memory: Any) -> Gradients:
        """As the plug-in does, checked."""
        with named(self.plugin, "finish"):
            found = self.inner.finish(memory)
        return self._checked("finish", found, memory.readout.network.theta)

    def _checked(self, doing: str, found: Gradients, theta: Theta) -> Gradients:
        if found != {}:
            check_names(self.plugin, doing, found, {name: tuple(value.shape) for name, value in theta.items()})
        return found


_warned: set[str] = set()


def guarded_online(plugin: Plugin, name: EstimatorName, draw: int) -> Online[Any]:
    """The online form of a plug-in, imported; one that was written for version 0.1 is adapted, with a warning."""
    found = plugin.load_online()
    if found is None and isinstance(whole := plugin.load(), type) and issubclass(whole, Online):
        found = whole  # a package's table of online forms alone
    if found is not None:
        with named(plugin, "the online form"):
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
