"""A plug-in's estimator, watched: whatever it raises or returns wrong is said with the plug-in's name."""

from typing import Any

from torch import Tensor

from colrun.engine.forms import FastForm, StochasticForm
from colrun.estimators.base import Estimator, Online
from colrun.estimators.guarded_fast import check_names, named
from colrun.estimators.plugins import Plugin, PluginError
from colrun.networks.base import Gradients, Network


class GuardedOnline:
    """The online form of a plug-in."""

    def __init__(self, plugin: Plugin, inner: Online, network: Network) -> None:
        self.plugin, self.inner, self.network = plugin, inner, network
        self.theta, self.total = inner.theta, inner.total  # which the experiment `cost` does not count

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """As the plug-in does."""
        with named(self.plugin, "step"):
            self.inner.step(x_t, y_t)

    def gradient(self) -> Gradients:
        """As the plug-in does, checked."""
        with named(self.plugin, "gradient"):
            found = self.inner.gradient()
        shapes = {name: tuple(value.shape) for name, value in self.network.theta.items()}
        check_names(self.plugin, "gradient", found, shapes)
        return found


class GuardedEstimator(Estimator):
    """A plug-in's; one that is a fast form alone has no online form."""

    def __init__(self, plugin: Plugin, inner: Any) -> None:
        self.plugin, self.inner = plugin, inner
        self.needs_columns = bool(getattr(inner, "needs_columns", True))  # type: ignore[misc]
        self.undefined = dict(getattr(inner, "undefined", {}))  # type: ignore[misc]

    def online(self, network: Network, step_size: float | None, window: int | None) -> Any:
        """The plug-in's, watched."""
        if not hasattr(self.inner, "online"):
            raise PluginError(f"{self.plugin.where}: {self.plugin.name} has no online form.")
        with named(self.plugin, "online"):
            inner = self.inner.online(network, step_size, window)
        return GuardedOnline(self.plugin, inner, network)


def guarded(plugin: Plugin) -> Estimator:
    """The estimator of a plug-in, imported."""
    inner = plugin.load()
    if not isinstance(inner, Estimator | FastForm | StochasticForm):
        raise PluginError(
            f"{plugin.where}: {plugin.name} is a {type(inner).__name__}; it must be an instance of a subclass of "
            "colrun.engine.forms.FastForm."
        )
    return GuardedEstimator(plugin, inner)
