"""Data as torch has it: sequences, dtypes and step sizes, checked."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from colrun.errors import InvalidValueError, positive_int
from colrun.tasks import stream

DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, init=False)
class Sequence:
    """What one network is shown: inputs `x` of shape (steps, inputs) and targets `y` of shape (steps,).

    Tensors, arrays and lists will do. float32 and float64 stay what they are; whole numbers, bools and lists become
    float64. Where `counted`, bools of shape (steps,), is false, the network runs on but there is no loss.
    """

    x: Tensor
    y: Tensor
    counted: Tensor

    def __init__(self, x: Tensor | ArrayLike, y: Tensor | ArrayLike, counted: Tensor | ArrayLike | None = None) -> None:
        object.__setattr__(self, "x", _as_data(x, "x"))
        object.__setattr__(self, "y", _as_data(y, "y"))
        if self.x.ndim != 2 or self.y.shape != self.x.shape[:1] or 0 in self.x.shape:
            raise InvalidValueError(
                f"a sequence needs x of shape (steps, inputs) and y of shape (steps,), with at least one step and one "
                f"input; got {tuple(self.x.shape)} and {tuple(self.y.shape)}."
            )
        if self.x.dtype != self.y.dtype:
            raise InvalidValueError(
                f"x is {self.x.dtype} and y is {self.y.dtype}; they must share one dtype: convert one of them first."
            )
        for name, value in (("x", self.x), ("y", self.y)):
            finite = value.isfinite().reshape(self.steps, -1).all(1)
            if not finite.all():
                step = int(finite.int().argmin()) + 1
                raise InvalidValueError(f"{name} holds a value that is not finite at step {step}; it must be a number.")
        bools = np.ones(self.steps, dtype=np.bool_) if counted is None else np.array(counted)
        if bools.dtype != np.bool_ or bools.shape != tuple(self.y.shape):
            raise InvalidValueError(
                f"counted must be one bool per step, {self.steps} of them; got {bools.dtype} of shape {bools.shape}."
            )
        object.__setattr__(self, "counted", torch.from_numpy(bools))

    @property
    def steps(self) -> int:
        """T."""
        return self.x.shape[0]


def _as_data(value: Tensor | ArrayLike, name: str) -> Tensor:
    """`value` as a float32 or float64 tensor."""
    kind: object = value.dtype if isinstance(value, Tensor | np.ndarray) else type(value).__name__
    found: Tensor | None = None
    try:
        if isinstance(value, Tensor):
            exact = not (value.is_floating_point() or value.is_complex())
            found = value.detach().double() if exact else value.detach()
        else:
            array = np.asarray(value)
            exact = array.dtype.kind in "iub" or (array.dtype.kind == "f" and isinstance(value, list | tuple))
            # A copy in this machine's byte order, since torch reads no other and warns of arrays it may not write to.
            wanted = np.dtype(np.float64) if exact else array.dtype.newbyteorder("=")
            found = torch.from_numpy(array.astype(wanted, order="C"))
    except (TypeError, ValueError, RuntimeError):
        pass  # rows of several lengths, or no numbers: refused below
    if found is None or found.dtype not in DTYPES.values():
        raise InvalidValueError(
            f"{name} ({kind}) must be float32 or float64, or whole numbers, bools or lists of numbers in equal rows, "
            "which become float64."
        )
    return found


def as_dtype(dtype: torch.dtype | str) -> torch.dtype:
    """The dtype of that name, or `dtype` itself."""
    found = DTYPES.get(dtype) if isinstance(dtype, str) else dtype
    if found not in DTYPES.values():
        raise InvalidValueError(
            f'dtype {dtype!r} must be torch.float32 or torch.float64, or its name: "float32" or "float64".'
        )
    assert found is not None
    return found


def sequence(
    seed: int = 0,
    steps: int = 50,
    inputs: int = 50,
    dtype: torch.dtype | str = torch.float64,
    task: str = "random",
) -> Sequence:
    """A task's data for one seed; that of `random`: fair independent bits in, targets uniform in (-50, 50)."""
    steps, inputs, dtype = positive_int(steps, "steps"), positive_int(inputs, "inputs"), as_dtype(dtype)
    drawn = stream(task, seed, steps, inputs)
    return Sequence(torch.from_numpy(drawn.x).to(dtype), torch.from_numpy(drawn.y).to(dtype), drawn.counted)


def check_step_size(step_size: object) -> float | None:
    """The step size α of the learning `w`, or None where `w` is fixed."""
    if step_size is None:
        return None
    if isinstance(step_size, Real) and not isinstance(step_size, bool) and 0 < float(step_size) < float("inf"):
        return float(step_size)
    raise InvalidValueError(f"step size {step_size!r} must be a finite number above 0, or None where w does not learn.")
