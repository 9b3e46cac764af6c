"""What a computation costs, measured: operations by a torch dispatch mode, and bytes of the tensors that stay alive.

| kind | what | counted as |
|---|---|---|
| `products` | matrix products: mm, bmm, addmm, baddbmm, mv, dot, … | 2 m n k |
| `elementwise` | whatever torch tags as pointwise; random numbers | numbers that come out |
| `reductions` | sums, means, norms, cumulative sums, index_add, … | numbers that go in |
| `copies` | copies, fills, gathers and scatters: numbers move, none is computed | numbers that are written |

Views cost nothing. An operation of no known kind is an error: nothing may pass uncounted. The mode sits below autograd
and vmap, so it sees each operation of a backward pass, and batched ones at their full size.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

KINDS = ("products", "elementwise", "reductions", "copies")
ARITHMETIC = KINDS[:3]
"""What counts as an operation; copies are told apart."""

PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "vdot": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1, "addmv": 1}
"""Matrix products, and which argument is their left factor."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


REDUCTIONS = _names(
    "sum mean prod amax amin max min argmax argmin all any norm linalg_vector_norm std var logsumexp cumsum cumprod "
    "index_add index_add_ scatter_add scatter_add_"
)
RANDOM = _names("bernoulli bernoulli_ uniform_ normal_ random_ rand randn randint rand_like randn_like randint_like")
PUTS = _names("index_put index_put_ _index_put_impl_ _unsafe_index_put")
"""Sums where they accumulate, else copies, of the values that are put."""
COPIES = _names(
    "clone copy_ copy _to_copy cat stack index _unsafe_index index_select gather take masked_select repeat flip roll "
    "scatter scatter_ index_copy index_copy_ index_fill index_fill_ select_scatter slice_scatter diagonal_scatter "
    "select_backward slice_backward diagonal_backward diag_embed tril triu constant_pad_nd zeros ones full new_zeros "
    "new_ones new_full zeros_like ones_like full_like fill fill_ zero_ eye arange linspace scalar_tensor "
    "lift_fresh_copy searchsorted"
)
FREE = _names(
    "_unsafe_view _reshape_alias lift_fresh detach_ unsqueeze_ squeeze_ t_ transpose_ empty empty_like empty_strided "
    "new_empty new_empty_strided _local_scalar_dense"
)
"""Views by another name, memory not yet written, and single numbers read."""


class UncountedOperationError(RuntimeError):
    """An operation of no known kind."""

    def __init__(self, name: str) -> None:
        super().__init__(f"operation {name} is of no known kind, so its cost cannot be counted; add it to meter.py.")


class Meter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts every operation while it is active, and remembers what each one allocated."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._allocated: dict[int, tuple[StorageWeakRef, int]] = {}

    @property
    def operations(self) -> int:
        """Of all kinds but copies."""
        return sum(self.counts[kind] for kind in ARITHMETIC)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run it, count it, remember its results."""
        found = func(*args, **kwargs) if kwargs else func(*args)
        results = [found] if isinstance(found, Tensor) else [leaf for leaf in tree_leaves(found) if _is_tensor(leaf)]
        if results:
            kind, count = cost_of(func, args, results)
            if kind is not None:
                self.counts[kind] += count
        for result in results:
            self._remember(result)
        return found

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and torch's guard against it would cost as much as the count."""
        return False

    def _remember(self, tensor: Tensor) -> None:
        reference = _reference(tensor)
        self._allocated[reference.cdata] = reference, tensor.untyped_storage().nbytes()

    def held(self, holder: object, without: Iterable[Tensor] = ()) -> int:
        """Bytes of tensors alive that were allocated under the meter or hang on `holder`, but for those of `without`.

        Whatever keeps them alive counts, a graph's saved tensors included, and garbage that is not yet collected: call
        it when nothing but the holder keeps any.
        """
        gone = [key for key, (reference, _) in self._allocated.items() if reference.expired()]  # type: ignore[no-untyped-call]
        for key in gone:
            del self._allocated[key]
        sizes = {key: size for key, (_, size) in self._allocated.items()}
        sizes |= {_key(tensor): tensor.untyped_storage().nbytes() for tensor in tensors_of(holder)}
        for tensor in without:
            sizes.pop(_key(tensor), None)
        return sum(sizes.values())


def cost_of(func: Any, args: tuple[Any, ...], results: list[Tensor]) -> tuple[str | None, int]:
    """The kind of an operation that has results and its count; None for what is free."""
    kind = _kind(func)
    if kind in ("elementwise", "copies"):
        return kind, results[0].numel() if len(results) == 1 else sum(result.numel() for result in results)
    if kind == "products":
        place = PRODUCTS[func.overloadpacket.__name__]
        left, right = args[place], args[place + 1]
        rows = left.numel() // left.shape[-1] if left.shape[-1] else 0
        columns = right.shape[-1] if right.ndim > 1 else 1
        return kind, 2 * rows * left.shape[-1] * columns
    if kind == "puts":
        adds = len(args) > 3 and args[3]
        return ("reductions" if adds else "copies"), args[2].numel()
    if kind == "reductions":
        return kind, sum(leaf.numel() for leaf in tree_leaves(args) if _is_number(leaf))
    return None, 0


@cache
def _kind(func: Any) -> str | None:
    """One of KINDS, or `puts`; None for what is free."""
    name = func.overloadpacket.__name__
    for kind, names in (("products", PRODUCTS), ("puts", PUTS), ("copies", COPIES)):
        if name in names:
            return kind
    if name in FREE or func.is_view:
        return None
    if name in REDUCTIONS or torch.Tag.reduction in func.tags:
        return "reductions"
    if name in RANDOM or torch.Tag.pointwise in func.tags:
        return "elementwise"
    raise UncountedOperationError(str(func))


def _is_tensor(leaf: object) -> bool:
    return isinstance(leaf, Tensor)


def _is_number(leaf: object) -> bool:
    """A tensor of values, not of indices."""
    return isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex() or leaf.dtype == torch.bool)


def _reference(tensor: Tensor) -> StorageWeakRef:
    """To the memory itself: it tells when no tensor and no graph uses it any more."""
    return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]


def _key(tensor: Tensor) -> int:
    return int(_reference(tensor).cdata)


def tensors_of(thing: object, seen: set[int] | None = None) -> Iterator[Tensor]:
    """Every tensor that hangs on an object by attributes, dicts, lists, tuples and the like."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from tensors_of(value, seen)
    elif isinstance(thing, Iterable) and not isinstance(thing, (str, bytes, Iterator)):
        for value in thing:
            yield from tensors_of(value, seen)
    elif hasattr(thing, "__dict__") and not isinstance(thing, type) and not callable(thing):
        yield from tensors_of(vars(thing), seen)
