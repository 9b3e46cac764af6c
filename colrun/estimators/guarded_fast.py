"""A plug-in's fast form, watched: whatever it raises or returns wrong is said with the plug-in's name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from colrun.compiling import Array
from colrun.engine.forms import Credit, FastForm, Gradients, PreactivationCredit, StochasticForm
from colrun.engine.run import Run
from colrun.estimators.plugins import Plugin, PluginError


@contextmanager
def named(plugin: Plugin, doing: str) -> Iterator[None]:
    """What goes wrong inside is the plug-in's doing."""
    try:
        yield
    except PluginError:
        raise
    except (Exception, SystemExit) as error:  # it is someone else's code: anything can happen
        raise PluginError(
            f"{plugin.where}: {doing} of {plugin.name} raised {type(error).__name__}: {error}."
        ) from error


def check_names(plugin: Plugin, doing: str, found: object, wanted: dict[str, tuple[int, ...]]) -> None:
    """`found` has these names and shapes."""
    if not isinstance(found, dict) or found.keys() != wanted.keys():
        names = ", ".join(map(str, found)) if isinstance(found, dict) else type(found).__name__
        raise PluginError(f"{plugin.where}: {doing} of {plugin.name} gave {names}, and not {', '.join(wanted)}.")
    for name, shape in wanted.items():
        check_shape(plugin, f"{name} in {doing}", found[name], shape)


def check_shape(plugin: Plugin, what: str, found: object, *allowed: tuple[int, ...]) -> None:
    """`found` is an array or a tensor of one of these shapes."""
    given = tuple(found.shape) if hasattr(found, "shape") else type(found).__name__
    if given not in allowed:
        right = " or ".join(map(str, allowed))
        raise PluginError(f"{plugin.where}: {what} of {plugin.name} has shape {given}, and must have {right}.")


def check_count(plugin: Plugin, doing: str, found: object, number: int, of: str) -> list[Any]:
    """`found` is a list of so many."""
    if not isinstance(found, list | tuple) or len(found) != number:
        raise PluginError(f"{plugin.where}: {doing} of {plugin.name} must give a list, one for each of its {of}.")
    return list(found)


class GuardedFast(FastForm):
    """Of a plug-in without noise."""

    def __init__(self, plugin: Plugin, inner: FastForm) -> None:
        self.plugin, self.inner = plugin, inner
        self.crosses = bool(inner.crosses)  # type: ignore[misc]

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """The plug-in's, checked."""
        with named(self.plugin, "credits"):
            found = self.inner.credits(run, windows)
        each = check_count(self.plugin, "credits", found, len(windows), "windows")
        return [_checked(self.plugin, run, credit) for credit in each]


class GuardedStochastic(StochasticForm):
    """Of a plug-in with noise."""

    def __init__(self, plugin: Plugin, inner: StochasticForm) -> None:
        self.plugin, self.inner = plugin, inner

    def drawn(self, run: Run, draws: list[int]) -> list[Credit]:
        """The plug-in's, checked."""
        with named(self.plugin, "drawn"):
            found = self.inner.drawn(run, draws)
        each = check_count(self.plugin, "drawn", found, len(draws), "draws")
        return [_checked(self.plugin, run, credit) for credit in each]


def _checked(plugin: Plugin, run: Run, credit: object) -> Any:
    """A credit of states or pre-activations, or gradients, in the run's dtype."""
    if isinstance(credit, dict):
        check_names(plugin, "credits", credit, {name: mask.shape for name, mask in run.batch.masks.items()})
        return {name: _as_array(value, run) for name, value in credit.items()}
    N, T, P = run.shape
    if isinstance(credit, PreactivationCredit):
        layer = (N, run.f.shape[1], run.f.shape[3], T)
        for name, part, shape in zip(credit._fields, credit, (run.a.shape, run.a.shape, layer, layer), strict=True):
            check_shape(plugin, f"{name} in credits", part, shape)
        return PreactivationCredit(*(_as_array(part, run) for part in credit))
    check_shape(plugin, "credits", credit, (N, T, *run.s.shape[2:]), (N, T, P))
    return _as_array(credit, run)


def _as_array(value: object, run: Run) -> Array:
    return np.ascontiguousarray(value, dtype=run.h.dtype)


def guarded_fast(plugin: Plugin) -> FastForm | StochasticForm:
    """The fast form of a plug-in, imported; one made of tensors works for one more version."""
    inner = plugin.load()
    if isinstance(inner, StochasticForm):
        return GuardedStochastic(plugin, inner)
    if isinstance(inner, FastForm):
        return GuardedFast(plugin, inner)
    from colrun.estimators.online import Online

    if isinstance(inner, type) and issubclass(inner, Online):
        from colrun.estimators.online_alone import OnlineAlone

        return OnlineAlone(plugin)
    from colrun.estimators.legacy_fast import legacy_fast

    return GuardedFast(plugin, legacy_fast(plugin, inner))
