"""The functions a notebook uses: build a network, ask any estimator for its gradients, compare two gradients."""

import torch

from colrun import metrics
from colrun.engine import credit_gradients
from colrun.errors import InvalidValueError, choose
from colrun.estimators import get_estimator, parse_estimator
from colrun.networks.architecture import Architecture
from colrun.networks.base import Gradients, Network
from colrun.networks.batch import Batch
from colrun.networks.columnar import ColumnarNetwork, build
from colrun.networks.dense import DenseNetwork, build_dense
from colrun.networks.trajectory import run
from colrun.testbed import Sequence, check_step_size

DTYPES = {"float32": torch.float32, "float64": torch.float64}


def network(
    seed: int = 0,
    cell: str = "additive",
    columns: int = 20,
    width: int = 50,
    lateral: float | str = 0.0,
    inputs: int = 50,
    reading: str = "text",
    dtype: torch.dtype = torch.float64,
    **switches: bool | str,
) -> ColumnarNetwork:
    """The columnar network of a seed. `lateral` is a ratio (0.1), a percentage ("10%") or "dense"."""
    return build(Architecture.of(cell, columns, width, lateral, inputs, reading, **switches), seed, _dtype(dtype))


def dense_network(
    seed: int = 0,
    cell: str = "additive",
    columns: int = 20,
    width: int = 50,
    inputs: int = 50,
    reading: str = "text",
    dtype: torch.dtype = torch.float64,
    **switches: bool | str,
) -> DenseNetwork:
    """An ordinary dense RNN with as many states and about as many weights as the dense columnar network."""
    return build_dense(Architecture.of(cell, columns, width, "dense", inputs, reading, **switches), seed, _dtype(dtype))


def gradients(
    network: Network, sequence: Sequence, estimator: str = "bptt", step_size: float | None = None, form: str = "credit"
) -> Gradients:
    """The gradient of Σ_t L(t) as `estimator` sees it, one tensor per named parameter.

    `step_size` lets w learn by LMS while the sequence runs. `form` is "credit" (fast) or "online" (as published).
    """
    name = parse_estimator(estimator)
    step_size = check_step_size(step_size)
    choose(form, ["credit", "online"], "form")
    _check_fit(network, sequence)
    if form == "online":
        online = get_estimator(name.family).online(network, step_size, name.window)
        for x_t, y_t in zip(sequence.x, sequence.y, strict=True):
            online.step(x_t, y_t)
        return {key: value.detach() for key, value in online.gradient().items()}
    if not isinstance(network, ColumnarNetwork):
        raise InvalidValueError('the credit form needs a columnar network; use form="online" for a dense one.')
    trajectory = run(Batch.stack([network], [sequence]), step_size)
    return {key: value[0] for key, value in credit_gradients(trajectory, [name])[name].items()}


def compare(network: Network, truth: Gradients, estimate: Gradients) -> dict[str, float]:
    """Metrics of `estimate` against `truth` over the weights of `network` that exist; NaN where undefined."""
    for label, given in (("truth", truth), ("estimate", estimate)):
        shapes = {name: tuple(value.shape) for name, value in given.items()}
        if shapes != {name: tuple(value.shape) for name, value in network.theta.items()}:
            raise InvalidValueError(f"{label} does not have the names and shapes of this network's parameters.")
    one = [{name: value[None] for name, value in given.items()} for given in (truth, estimate, network.masks)]
    return {name: float(value) for name, value in metrics.compare(*one).items()}


def _dtype(dtype: torch.dtype) -> torch.dtype:
    if dtype not in DTYPES.values():
        raise InvalidValueError(f"dtype {dtype!r} must be torch.float32 or torch.float64.")
    return dtype


def _check_fit(network: Network, sequence: Sequence) -> None:
    inputs = network.architecture.inputs
    if sequence.x.shape[1] != inputs:
        raise InvalidValueError(f"the sequence has {sequence.x.shape[1]} inputs, the network takes {inputs}.")
    if sequence.x.dtype != network.w.dtype:
        raise InvalidValueError(f"the sequence is {sequence.x.dtype}, the network {network.w.dtype}; they must agree.")
