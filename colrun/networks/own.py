"""A user's own recurrent network: any differentiable torch step, with named parameters.

    own_network(torch.nn.GRUCell(5, 8))
    own_network(module, state=…, inputs=5)                       whose forward is (x_t, state) -> state
    own_network(step, theta={…}, state=…, inputs=5)              a function step(theta, x_t, state) -> state

The state is a tensor or a tuple of tensors of any shapes; inside it is one row of numbers, (1, P), in their order. The
readout sees the first of them, through a w(0) drawn as colrun draws it, or the network predicts by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from colrun.errors import InvalidValueError, positive_int, shown
from colrun.networks.base import Network, Theta
from colrun.networks.draw import initial_w

State = Tensor | tuple[Tensor, ...]


@dataclass(frozen=True)
class ModuleStep:
    """A module's forward, with its parameters passed in."""

    module: torch.nn.Module

    def __call__(self, theta: Theta, x_t: Tensor, state: State) -> State:
        found: State = torch.func.functional_call(self.module, theta, (x_t, state))
        return found


@dataclass(frozen=True, repr=False)
class OwnNetwork(Network):
    """Nothing in it is masked, and no weight belongs to a state."""

    kind = "an own network"
    seed: int
    theta: Theta
    masks: dict[str, Tensor]
    w: Tensor | None
    given_inputs: int
    start: tuple[Tensor, ...]
    """s(0), as given."""
    several: bool
    """Whether the state is a tuple, also of one."""
    own_step: Callable[[Theta, Tensor, Any], State]
    own_predict: Callable[[Theta, Any], Tensor] | None

    @property
    def inputs(self) -> int:
        return self.given_inputs

    def initial_state(self) -> Tensor:
        return torch.cat([each.flatten() for each in self.start]).unsqueeze(0)

    def step(self, theta: Theta, x_t: Tensor, s_tm1: Tensor) -> Tensor:
        """The user's, with the state in one row; what it gives is checked."""
        found = self.own_step(theta, x_t, self.as_given(s_tm1))
        return torch.cat([each.flatten() for each in self._checked(found)]).unsqueeze(0)

    def predict(self, theta: Theta, s_t: Tensor) -> Tensor:
        if self.own_predict is None:
            return super().predict(theta, s_t)
        found = self.own_predict(theta, self.as_given(s_t))
        if not isinstance(found, Tensor) or found.numel() != 1 or found.dtype != self.dtype:
            raise InvalidValueError(
                f"predict of this network gave {_described(found)}; it must give one number, a {self.dtype} tensor."
            )
        return found.reshape(())

    def as_given(self, s: Tensor) -> State:
        """The state in the user's own shapes."""
        parts = torch.split(s[0], [each.numel() for each in self.start])
        each = tuple(part.reshape(one.shape) for part, one in zip(parts, self.start, strict=True))
        return each if self.several else each[0]

    def _checked(self, found: object) -> tuple[Tensor, ...]:
        parts = tuple(found) if self.several and isinstance(found, tuple | list) else (found,)
        same = len(parts) == len(self.start) and all(
            isinstance(part, Tensor) and part.shape == one.shape and part.dtype == one.dtype
            for part, one in zip(parts, self.start, strict=True)
        )
        if not same:
            raise InvalidValueError(
                f"the step of this network gave {_described(found)}, and its state before was "
                f"{_described(self.start if self.several else self.start[0])}; shapes and dtypes must stay the same."
            )
        return parts


def own_network(
    step: torch.nn.Module | Callable[[Theta, Tensor, Any], Any],
    theta: Mapping[str, Tensor] | None = None,
    state: State | None = None,
    inputs: int | None = None,
    seed: int = 0,
    predict: Callable[[Theta, Any], Tensor] | None = None,
) -> OwnNetwork:
    """A network of one's own, for every estimator that needs no columns.

    `step` is a module whose forward is (x_t, state) -> state, such as torch.nn.GRUCell(5, 8), or a function
    step(theta, x_t, state) -> state with a dict of parameters `theta`. `state` is the initial one, a tensor or a tuple
    of tensors, and `inputs` the length of x_t; torch's own cells know both. `predict(theta, state)` gives y where there
    is no readout; otherwise y = w·h with the first tensor of the state as h and w(0) drawn by `seed`.
    """
    seed = positive_int(seed, "seed", least=0)
    run: Callable[[Theta, Tensor, Any], Any] = step
    if isinstance(step, torch.nn.Module):
        if theta is not None:
            raise InvalidValueError("a module has parameters of its own; leave theta out, or give a function as step.")
        theta, run = dict(step.named_parameters()), ModuleStep(step)
        state, inputs = _of_cell(step, state, inputs)
    elif not callable(step):
        raise InvalidValueError(f"step is {shown(step)}; it must be a torch module or a function of theta, x_t, state.")
    parameters = _parameters(theta)
    dtype = next(iter(parameters.values())).dtype
    start = _start(state, dtype)
    if inputs is None:
        raise InvalidValueError("inputs is missing; it must be the length of x_t, such as inputs=5.")
    masks = {name: torch.ones(value.shape, dtype=torch.bool) for name, value in parameters.items()}
    w = None if predict is not None else torch.from_numpy(initial_w(seed, start[0].numel())).to(dtype)
    network = OwnNetwork(
        seed, parameters, masks, w, positive_int(inputs, "inputs"), start, not isinstance(state, Tensor), run, predict
    )
    _try(network)
    return network


def _of_cell(module: torch.nn.Module, state: State | None, inputs: int | None) -> tuple[State | None, int | None]:
    """What torch's own cells tell of themselves."""
    if not isinstance(module, torch.nn.RNNCellBase):
        return state, inputs
    if state is None:
        zero = torch.zeros(module.hidden_size, dtype=module.weight_hh.dtype)
        state = (zero, zero.clone()) if isinstance(module, torch.nn.LSTMCell) else zero
    return state, module.input_size if inputs is None else inputs


def _parameters(theta: Mapping[str, Tensor] | None) -> Theta:
    if not isinstance(theta, Mapping) or not theta or not all(isinstance(value, Tensor) for value in theta.values()):
        raise InvalidValueError(
            "theta must be a dict of named tensors with at least one in it, the parameters of step."
        )
    for name, value in theta.items():
        if value.dtype not in (torch.float32, torch.float64):
            raise InvalidValueError(f"parameter {name} is {value.dtype}; it must be float32 or float64.")
    dtypes = {value.dtype for value in theta.values()}
    if len(dtypes) > 1:
        raise InvalidValueError(f"parameters are {' and '.join(sorted(map(str, dtypes)))}; they must share one dtype.")
    return {name: value.detach().clone() for name, value in theta.items()}


def _start(state: object, dtype: torch.dtype) -> tuple[Tensor, ...]:
    parts: tuple[object, ...] = tuple(state) if isinstance(state, tuple | list) else (state,)
    if not parts or not all(isinstance(part, Tensor) and part.numel() for part in parts):
        raise InvalidValueError(
            f"state is {_described(state)}; it must be the initial state, a tensor or a tuple of tensors."
        )
    found = [part.detach().clone() for part in parts if isinstance(part, Tensor)]
    for part in found:
        if part.dtype != dtype:
            raise InvalidValueError(f"the state is {part.dtype} and the parameters are {dtype}; they must agree.")
        if not part.isfinite().all():
            raise InvalidValueError("the initial state holds a value that is not finite; it must be numbers.")
    return tuple(found)


def _try(network: OwnNetwork) -> None:
    """One step from the initial state, with an input of zeros."""
    x = torch.zeros(network.inputs, dtype=network.dtype)
    try:
        with torch.no_grad():
            s = network.step(network.theta, x, network.initial_state())
            if network.own_predict is not None:
                network.predict(network.theta, s)
    except InvalidValueError:
        raise
    except Exception as error:  # it is someone else's code: anything can happen
        raise InvalidValueError(
            f"one step with {network.inputs} inputs and the initial state raised {type(error).__name__}: {error}"
        ) from error
    if not s.isfinite().all():
        raise InvalidValueError("one step with an input of zeros gives a state that is not finite; it must be numbers.")


def _described(found: object) -> str:
    if isinstance(found, Tensor):
        return f"a {str(found.dtype).removeprefix('torch.')} tensor of shape {tuple(found.shape)}"
    if isinstance(found, tuple | list):
        return f"({', '.join(map(_described, found))})"
    return shown(found)
