"""The functions a notebook uses: build a network, ask any estimator for its gradients, compare two gradients."""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import overload

import numpy as np
import torch
from torch import Tensor

from colrun.engine import measure as engine
from colrun.engine import metrics
from colrun.engine.batch import Batch
from colrun.errors import InvalidValueError, choose, positive_int
from colrun.estimators import ESTIMATORS, EstimatorName, fast_forms, get_online, parse_estimator, refuse_undefined
from colrun.estimators.online import Summed, run
from colrun.networks.architecture import Architecture
from colrun.networks.base import Gradients, Network
from colrun.networks.columnar import ColumnarNetwork, build
from colrun.networks.dense import DenseNetwork, build_dense
from colrun.networks.own import own_network as own_network
from colrun.networks.readings import SWITCHES
from colrun.streams import Array
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

    `step_size` lets w learn by LMS while the sequence runs. `form` is "credit" (fast) or "online" (as published), which
    is also what runs where the fast engine has no network of that kind, as with a dense one or one's own, or where some
    steps are not counted. A stochastic estimator (`uoro`, `nobacktrack`, `kf-rtrl`) has another noise for every `draw`,
    which with the network's seed fixes it.
    """
    name = parse_estimator(estimator)
    step_size = check_step_size(step_size)
    choose(form, FORMS, "form")
    draw = positive_int(draw, "draw", least=0)
    _check_fit(network, sequence)
    if form == "torch":
        warnings.warn('form="torch" is "credit" now, and the next version will not take it.', FutureWarning, 2)
    if form == "online" or not _is_fast(network, sequence):
        return _run(network, sequence, name, step_size, draw).gradient
    refuse_undefined([name], str(network.cell))
    assert isinstance(network, ColumnarNetwork)
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


@overload
def compare(network: Network, truth: Gradients, estimate: Gradients) -> dict[str, float]: ...
@overload
def compare(network: Gradients, truth: Gradients) -> dict[str, float]: ...
def compare(network: Network | Gradients, truth: Gradients, estimate: Gradients | None = None) -> dict[str, float]:
    """Metrics of `estimate` against `truth` over the weights of `network` that exist; NaN where undefined.

    `compare(truth, estimate)` is the same for any two dicts of tensors, over all of their numbers.
    """
    if estimate is None and isinstance(network, Mapping):
        truth, estimate = network, truth
        like, of = _as_gradients("truth", truth), "the truth"
        masks = {name: torch.ones(value.shape, dtype=torch.bool) for name, value in like.items()}
    else:
        _check_network(network)
        assert isinstance(network, Network)
        like, of, masks = network.theta, "this network's parameters", network.masks
    for label, given in (("truth", truth), ("estimate", estimate)):
        if _shapes(_as_gradients(label, given)) != _shapes(like):
            raise InvalidValueError(f"{label} does not have the names and shapes of {of}.")
    assert estimate is not None
    return {name: float(value[0]) for name, value in metrics.compare(*map(_one, (truth, estimate, masks))).items()}


def _one(given: Mapping[str, Tensor]) -> dict[str, Array]:
    """As a batch of one."""
    return {name: value.detach().numpy()[None] for name, value in given.items()}


def evaluate(
    network: Network,
    sequence: Sequence,
    estimators: Iterable[str],
    step_size: float | None = None,
    draws: int = 1,
    by_group: bool = False,
) -> dict[str, dict[str, float]]:
    """Every metric of each estimator against bptt, with `max_error` = max_t |δ(t)| and whether it `diverged`.

    `max_error` is that of the sequence, so it is the same for all estimators. Metrics of a stochastic estimator are
    means over its first `draws` draws, and with two or more there are also its `bias` and `variance`. `by_group` adds
    `alignment`, `mae`, `cosine` and `norm_ratio` of each group of weights of a columnar network, such as
    `alignment_lateral`.
    """
    names = [parse_estimator(name) for name in ([estimators] if isinstance(estimators, str) else estimators)]
    _check_fit(network, sequence)
    draws = positive_int(draws, "draws")
    step_size = check_step_size(step_size)
    if _is_fast(network, sequence):
        refuse_undefined(names, str(network.cell))
        assert isinstance(network, ColumnarNetwork)
        found = engine.measure(as_batch([network], [sequence]), fast_forms(names), step_size, draws, by_group)
        return {str(name): {metric: value.item() for metric, value in found[name].items()} for name in names}
    if by_group:
        raise InvalidValueError(f"{network.kind} has no groups of weights to tell apart; leave by_group out.")
    truth, errors = _run(network, sequence, parse_estimator("bptt"), step_size, 0)
    max_error = errors.double().abs().amax(0, keepdim=True).numpy() if len(errors) else np.zeros(1)
    each = {str(name): _evaluate(network, sequence, name, step_size, draws, truth) for name in names}
    return {
        name: {metric: value.item() for metric, value in metrics.complete(found, max_error).items()}
        for name, found in each.items()
    }


def _evaluate(
    network: Network, sequence: Sequence, name: EstimatorName, step_size: float | None, draws: int, truth: Gradients
) -> metrics.Metrics:
    """Metrics of one estimator by its online form, of one draw after another if it has several."""
    stochastic = name.family in ESTIMATORS and ESTIMATORS[name.family].stochastic
    drawn = [_run(network, sequence, name, step_size, draw).gradient for draw in range(draws if stochastic else 1)]
    mean = {key: torch.stack([each[key] for each in drawn]).mean(0) for key in truth}
    known, masks = _one(truth), _one(network.masks)
    sums = [metrics.sums_of(known, _one(each), masks) for each in [*drawn, mean]]
    return metrics.from_draws(np.stack(sums, axis=1)) if stochastic else metrics.from_sums(sums[0])


def _run(network: Network, sequence: Sequence, name: EstimatorName, step_size: float | None, draw: int) -> Summed:
    """The online form over the sequence."""
    refuse_undefined([name], network.cell)
    return run(get_online(name, draw), network, sequence, step_size)


def _is_fast(network: Network, sequence: Sequence) -> bool:
    """Whether the engine takes it: it counts every step."""
    return network.fast and bool(sequence.counted.all())


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
            f"the first argument is a {type(network).__name__}; it must be a network, from colrun.network, "
            "colrun.dense_network or colrun.own_network."
        )


def _as_gradients(label: str, given: object) -> Mapping[str, Tensor]:
    if not isinstance(given, Mapping) or not all(isinstance(value, Tensor) for value in given.values()):
        raise InvalidValueError(
            f"{label} is a {type(given).__name__}; it must be gradients, a dict of named tensors: "
            "compare(network, truth, estimate)."
        )
    return given


def _shapes(given: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in given.items()}


def _check_fit(network: Network, sequence: Sequence) -> None:
    _check_network(network)
    if not isinstance(sequence, Sequence):
        raise InvalidValueError(
            f"the second argument is a {type(sequence).__name__}; it must be a colrun.Sequence(x, y) or come from "
            "colrun.sequence."
        )
    inputs = network.inputs
    if sequence.x.shape[1] != inputs:
        raise InvalidValueError(f"the sequence has {sequence.x.shape[1]} inputs, the network takes {inputs}.")
    shown, own = (str(tensor.dtype).removeprefix("torch.") for tensor in (sequence.x, network))
    if shown != own:
        raise InvalidValueError(
            f'the sequence is {shown}, the network {own}; they must agree: build the network with dtype="{shown}", or '
            f"give x and y as {own}."
        )
