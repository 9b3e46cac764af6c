"""The functions a notebook uses: build a network, ask any estimator for its gradients, compare two gradients."""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
from torch import Tensor

from colrun import any_network
from colrun.engine import measure as engine
from colrun.engine import metrics
from colrun.engine.batch import Batch
from colrun.errors import InvalidValueError, choose, positive_int
from colrun.estimators import fast_forms, get_estimator, parse_estimator, refuse_undefined
from colrun.estimators.stochastic import Stochastic
from colrun.networks.architecture import Architecture
from colrun.networks.base import Gradients, Network
from colrun.networks.columnar import ColumnarNetwork, build
from colrun.networks.dense import DenseNetwork, build_dense
from colrun.networks.readings import SWITCHES
from colrun.testbed import Sequence, as_dtype, check_step_size

FORMS = ("credit", "torch", "online")
MASKING = ("lateral", "mask_recurrence", "mask_own_recurrence")


def network(
    seed: int = 0,
    cell: str = "additive",
    columns: int = 20,
    width: int = 50,
    lateral: float | str = 0.0,
    inputs: int = 50,
    reading: str = "text",
    dtype: torch.dtype | str = torch.float64,
    **switches: bool | str | None,
) -> ColumnarNetwork:
    """The columnar network of a seed. `lateral` is a ratio (0.1), a percentage ("10%") or "dense".

    `reading` ("text" or "release") sets all switches, and each can be set alone: `init` ("xavier" or "pytorch"),
    `own_state`, `state_bias`, `mask_own_recurrence`, `mask_recurrence` (true or false; see docs/definitions.md).
    """
    _check_names(network, switches)
    return build(Architecture.of(cell, columns, width, lateral, inputs, reading, **switches), seed, as_dtype(dtype))


def dense_network(
    seed: int = 0,
    cell: str = "additive",
    columns: int = 20,
    width: int = 50,
    inputs: int = 50,
    reading: str = "text",
    dtype: torch.dtype | str = torch.float64,
    **switches: bool | str | None,
) -> DenseNetwork:
    """An ordinary dense RNN with as many states and about as many weights as the dense columnar network.

    Its switches are `init`, `own_state` and `state_bias`; nothing in it is masked.
    """
    for name in MASKING:
        if switches.pop(name, None) is not None:
            raise InvalidValueError(f"a dense network masks no weights, so it takes no {name}; leave it out.")
    _check_names(dense_network, switches)
    architecture = Architecture.of(cell, columns, width, "dense", inputs, reading, **switches)
    return build_dense(architecture, seed, as_dtype(dtype))


def gradients(
    network: Network,
    sequence: Sequence,
    estimator: str = "bptt",
    step_size: float | None = None,
    form: str = "credit",
    draw: int = 0,
) -> Gradients:
    """The gradient of Σ_t L(t) as `estimator` sees it, one tensor per named parameter.

    `step_size` lets w learn by LMS while the sequence runs. `form` is "credit" (fast) or "online" (as published). A
    stochastic estimator (`uoro`, `nobacktrack`, `kf-rtrl`) has another noise for every `draw`, which with the network's
    seed fixes it; others have none.
    """
    name = parse_estimator(estimator)
    step_size = check_step_size(step_size)
    choose(form, FORMS, "form")
    draw = positive_int(draw, "draw", least=0)
    _check_fit(network, sequence)
    refuse_undefined([name], network.architecture.cell)
    chosen = get_estimator(name.family)
    chosen = chosen.with_draw(draw) if isinstance(chosen, Stochastic) else chosen
    if chosen.needs_columns and not isinstance(network, ColumnarNetwork):
        instead = "uoro" if isinstance(chosen, Stochastic) else "master-user-groups"
        raise InvalidValueError(f"a dense network has no columns, which {name} needs; use {instead}.")
    if form == "online":
        online = chosen.online(network, step_size, name.window)
        for x_t, y_t in zip(sequence.x, sequence.y, strict=True):
            online.step(x_t, y_t)
        return {key: value.detach() for key, value in online.gradient().items()}
    if form == "torch":
        warnings.warn('form="torch" is "credit" now, and the next version will not take it.', FutureWarning, 2)
    if not isinstance(network, ColumnarNetwork):
        found = any_network.Together([network], [sequence], step_size).gradients(name)
        return {key: value[0] for key, value in found.items()}
    arrays = engine.gradients(as_batch([network], [sequence]), fast_forms([name]), step_size, draw)[name]
    return {key: torch.from_numpy(value[0]) for key, value in arrays.items()}


def as_batch(networks: Iterable[ColumnarNetwork], sequences: Iterable[Sequence]) -> Batch:
    """Networks of one architecture as the engine takes them, with their sequences."""
    networks, sequences = list(networks), list(sequences)
    first = networks[0]
    theta = {name: np.stack([network.theta[name].detach().numpy() for network in networks]) for name in first.theta}
    masks = {name: np.stack([network.masks[name].numpy() for network in networks]) for name in first.masks}
    w = np.stack([network.w.detach().numpy() for network in networks])
    x, y = (np.stack([getattr(sequence, name).numpy() for sequence in sequences]) for name in ("x", "y"))
    return Batch.of(first.architecture, tuple(network.seed for network in networks), theta, masks, w, x, y)


def compare(network: Network, truth: Gradients, estimate: Gradients) -> dict[str, float]:
    """Metrics of `estimate` against `truth` over the weights of `network` that exist; NaN where undefined."""
    _check_network(network)
    for label, given in (("truth", truth), ("estimate", estimate)):
        if not isinstance(given, Mapping) or not all(isinstance(value, Tensor) for value in given.values()):
            raise InvalidValueError(
                f"{label} is a {type(given).__name__}; it must be gradients, a dict of named tensors: "
                "compare(network, truth, estimate)."
            )
        shapes = {name: tuple(value.shape) for name, value in given.items()}
        if shapes != {name: tuple(value.shape) for name, value in network.theta.items()}:
            raise InvalidValueError(f"{label} does not have the names and shapes of this network's parameters.")
    one = [
        {name: value.detach().numpy()[None] for name, value in given.items()}
        for given in (truth, estimate, network.masks)
    ]
    return {name: float(value[0]) for name, value in metrics.compare(*one).items()}


def evaluate(
    network: ColumnarNetwork,
    sequence: Sequence,
    estimators: Iterable[str],
    step_size: float | None = None,
    draws: int = 1,
    by_group: bool = False,
) -> dict[str, dict[str, float]]:
    """Every metric of each estimator against bptt, with `max_error` = max_t |δ(t)| and whether it `diverged`.

    `max_error` is that of the sequence, so it is the same for all estimators. Metrics of a stochastic estimator are
    means over its first `draws` draws, and with two or more there are also its `bias` and `variance`. `by_group` adds
    `alignment`, `mae`, `cosine` and `norm_ratio` of each group of weights, such as `alignment_lateral`.
    """
    names = [parse_estimator(name) for name in ([estimators] if isinstance(estimators, str) else estimators)]
    _check_fit(network, sequence)
    if not isinstance(network, ColumnarNetwork):
        raise InvalidValueError(
            'evaluate needs a columnar network; for a dense one use gradients with form="online", then compare.'
        )
    refuse_undefined(names, network.architecture.cell)
    draws = positive_int(draws, "draws")
    batch = as_batch([network], [sequence])
    found = engine.measure(batch, fast_forms(names), check_step_size(step_size), draws, by_group)
    return {str(name): {metric: value.item() for metric, value in found[name].items()} for name in names}


def _check_names(function: Callable[..., Network], switches: Mapping[str, object]) -> None:
    """What no argument took must be a switch; a typing error may be meant for either."""
    masking = MASKING if function is dense_network else ()
    arguments = [name for name in inspect.signature(function).parameters if name != "switches"]
    allowed = [*arguments, *(name for name in SWITCHES if name not in masking)]
    for name in switches:
        choose(name, allowed, "argument or switch")


def _check_network(network: object) -> None:
    if not isinstance(network, Network):
        raise InvalidValueError(
            f"the first argument is a {type(network).__name__}; it must be a network, from colrun.network or "
            "colrun.dense_network."
        )


def _check_fit(network: Network, sequence: Sequence) -> None:
    _check_network(network)
    if not isinstance(sequence, Sequence):
        raise InvalidValueError(
            f"the second argument is a {type(sequence).__name__}; it must be a colrun.Sequence(x, y) or come from "
            "colrun.sequence."
        )
    inputs = network.architecture.inputs
    if sequence.x.shape[1] != inputs:
        raise InvalidValueError(f"the sequence has {sequence.x.shape[1]} inputs, the network takes {inputs}.")
    shown, own = (str(tensor.dtype).removeprefix("torch.") for tensor in (sequence.x, network.w))
    if shown != own:
        raise InvalidValueError(
            f'the sequence is {shown}, the network {own}; they must agree: build the network with dtype="{shown}", or '
            f"give x and y as {own}."
        )
