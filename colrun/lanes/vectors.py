"""A vector of `LANES` numbers as a type of its own inside kernels: one value, added and multiplied like a number.

numba leaves it to LLVM to find loops that can be vectorised, and LLVM must first prove that arrays do not overlap. Here
the vectors are written out: `load(array, n)` takes the n-th row of an array whose last axis has LANES numbers, all
leading axes counted as one, `store` puts it back. Lanes never meet, whatever the compiler does.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic, models, overload, register_model

LANES = 16
Vector = Any
"""In signatures of kernels: a vector."""


OPTIONS: dict[str, Any] = {
    "cache": True,
    "fastmath": {"contract"},
    "error_model": "numpy",
    "nogil": True,
    "_nrt": False,
}
"""Products and sums may be fused, but the order of sums stays. Nothing is allocated, so arrays need not be counted."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk."""
    return cast(Callable[..., Any], numba.njit(**OPTIONS)(function))


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for what runs row by row or weight by weight: a call would cost more than its work."""
    return cast(Callable[..., Any], numba.njit(**OPTIONS, forceinline=True)(function))


def emitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a function that gives LLVM's code for a call: called within kernels only."""
    return cast(Callable[..., Any], intrinsic(function))


class VectorType(types.Type):
    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar
        super().__init__(name=f"Vector({scalar}, {LANES})")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: VectorType) -> None:
        scalar = manager.lookup(kind.scalar).get_value_type()
        super().__init__(manager, kind, ir.VectorType(scalar, LANES))  # type: ignore[no-untyped-call]


def _of(array: Any) -> VectorType:
    assert isinstance(array, types.Array)
    assert array.layout == "C"
    return VectorType(array.dtype)


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    scalar = context.get_value_type(kind.dtype)
    first = builder.gep(data, [builder.mul(index, ir.Constant(index.type, LANES))])
    return builder.bitcast(first, ir.VectorType(scalar, LANES).as_pointer())


@emitted
def load(typing: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
    """Row `index`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = context.cast(builder, args[1], signature.args[1], types.intp)
        found = builder.load(_address(context, builder, signature.args[0], args[0], place))
        found.align = signature.args[0].dtype.bitwidth // 8
        return found

    return _of(array)(array, index), code


@emitted
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:  # noqa: ARG001
    """Into row `index`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = context.cast(builder, args[1], signature.args[1], types.intp)
        written = builder.store(args[2], _address(context, builder, signature.args[0], args[0], place))
        written.align = signature.args[0].dtype.bitwidth // 8
        return context.get_dummy_value()

    assert value == _of(array), (value, array)
    return types.void(array, index, value), code


def _splat(builder: Any, scalar: Any) -> Any:
    vector = ir.VectorType(scalar.type, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _as_vector(context: Any, builder: Any, value: Any, kind: Any, wanted: VectorType) -> Any:
    if isinstance(kind, VectorType):
        return value
    return _splat(builder, context.cast(builder, value, kind, wanted.scalar))


@emitted
def same(typing: Any, array: Any, value: Any) -> Any:  # noqa: ARG001
    """One number in all lanes, as the array's numbers are."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _as_vector(context, builder, args[1], signature.args[1], signature.return_type)

    return _of(array)(array, value), code


def _elementwise(emit: Callable[[Any, list[Any]], Any]) -> Callable[..., Any]:
    """An intrinsic of vectors and numbers, the latter taken for all lanes."""

    def made(typing: Any, *kinds: Any) -> Any:  # noqa: ARG001
        wanted = next(kind for kind in kinds if isinstance(kind, VectorType))

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pairs = zip(args, signature.args, strict=True)
            return emit(builder, [_as_vector(context, builder, value, kind, wanted) for value, kind in pairs])

        return wanted(*kinds), code

    return made


ROUGHLY = ("arcp", "afn", "ninf", "reassoc", "contract")


def _call(builder: Any, name: str, values: list[Any], flags: tuple[str, ...] = ()) -> Any:
    kind = values[0].type
    suffix = f"v{LANES}f{32 if isinstance(kind.element, ir.FloatType) else 64}"
    function = _declared(builder, kind, [kind] * len(values), f"llvm.{name}.{suffix}")
    return builder.call(function, values, fastmath=flags)


def _declared(builder: Any, result: Any, arguments: list[Any], name: str) -> Any:
    return cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, ir.FunctionType(result, arguments), name
    )


def _choose(builder: Any, values: list[Any]) -> Any:
    """For numbers and vectors alike, as splats of both kinds are vectors here."""
    return builder.select(builder.fcmp_ordered("<", values[0], values[1]), values[2], values[3])


_add = _elementwise(lambda builder, v: builder.fadd(*v, flags=("contract",)))
_sub = _elementwise(lambda builder, v: builder.fsub(*v, flags=("contract",)))
_mul = _elementwise(lambda builder, v: builder.fmul(*v, flags=("contract",)))
_div = _elementwise(lambda builder, v: builder.fdiv(*v))
_below = _elementwise(_choose)


@emitted
def add(typing: Any, a: Any, b: Any) -> Any:
    return _add(typing, a, b)


@emitted
def subtract(typing: Any, a: Any, b: Any) -> Any:
    return _sub(typing, a, b)


@emitted
def multiply(typing: Any, a: Any, b: Any) -> Any:
    return _mul(typing, a, b)


@emitted
def divide(typing: Any, a: Any, b: Any) -> Any:
    return _div(typing, a, b)


@emitted
def quotient(typing: Any, a: Any, b: Any) -> Any:
    """a/b for finite b, in float32 exact to about the last bit only, which is faster on many machines."""
    return _elementwise(lambda builder, v: builder.fdiv(*v, flags=ROUGHLY))(typing, a, b)


@emitted
def fast_sqrt(typing: Any, a: Any) -> Any:
    """√a above 0, as exact as `quotient`."""
    return _elementwise(lambda builder, v: _call(builder, "sqrt", v, ROUGHLY))(typing, a)


@emitted
def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once where the machine can."""
    return _elementwise(lambda builder, v: _call(builder, "fmuladd", v))(typing, a, b, c)


@emitted
def below(typing: Any, a: Any, b: Any, then: Any, otherwise: Any) -> Any:
    """`then` where a < b, else `otherwise`, which is also what a lane with NaN gets."""
    return _below(typing, a, b, then, otherwise)


@emitted
def sqrt(typing: Any, a: Any) -> Any:
    return _elementwise(lambda builder, v: _call(builder, "sqrt", v))(typing, a)


@emitted
def floor(typing: Any, a: Any) -> Any:
    return _elementwise(lambda builder, v: _call(builder, "floor", v))(typing, a)


@emitted
def absolute(typing: Any, a: Any) -> Any:
    return _elementwise(lambda builder, v: _call(builder, "fabs", v))(typing, a)


@emitted
def two_to(typing: Any, a: Any) -> Any:
    """2^a for whole a within the exponents of its kind."""

    def emit(builder: Any, values: list[Any]) -> Any:
        (value,) = values
        single = isinstance(value.type.element, ir.FloatType)
        bits, bias, mantissa = (32, 127, 23) if single else (64, 1023, 52)
        whole = ir.VectorType(ir.IntType(bits), LANES)
        exponent = builder.add(builder.fptosi(value, whole), ir.Constant(whole, [bias] * LANES))
        return builder.bitcast(builder.shl(exponent, ir.Constant(whole, [mantissa] * LANES)), value.type)

    return _elementwise(emit)(typing, a)


@emitted
def widen(typing: Any, a: Any) -> Any:  # noqa: ARG001
    """In float64."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        wanted = ir.VectorType(ir.DoubleType(), LANES)
        return args[0] if args[0].type == wanted else builder.fpext(args[0], wanted)

    return VectorType(types.float64)(a), code


@emitted
def is_single(typing: Any, a: Any) -> Any:  # noqa: ARG001
    """Whether it holds float32: known when the kernel is compiled."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return ir.Constant(ir.IntType(1), int(signature.args[0].scalar == types.float32))

    return types.boolean(a), code


@emitted
def all_within(typing: Any, a: Any, b: Any) -> Any:  # noqa: ARG001
    """Whether a ≤ b in every lane; NaN is not."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wanted = signature.args[0]
        values = [
            _as_vector(context, builder, value, kind, wanted) for value, kind in zip(args, signature.args, strict=True)
        ]
        found = builder.fcmp_ordered("<=", *values)
        bit = ir.IntType(1)
        reduce = _declared(builder, bit, [found.type], f"llvm.vector.reduce.and.v{LANES}i1")
        return builder.call(reduce, [found])

    return types.boolean(a, b), code


def _overload(of: Any, function: Any) -> None:
    def typed(a: Any, b: Any) -> Any:
        if isinstance(a, VectorType) or isinstance(b, VectorType):
            return lambda a, b: function(a, b)
        return None

    overload(of, strict=False)(typed)


for _of_two, _function in (
    (operator.add, add),
    (operator.sub, subtract),
    (operator.mul, multiply),
    (operator.truediv, divide),
    (operator.iadd, add),
    (operator.isub, subtract),
    (operator.imul, multiply),
):
    _overload(_of_two, _function)
