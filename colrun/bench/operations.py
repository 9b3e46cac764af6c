"""The least number of operations that the work needs, by formula; docs/performance.md derives it.

Multiplications and additions of matrix products over the weights that exist. Elementwise work, credits and metrics
count as nothing, and so does work on masked weights.
"""

from dataclasses import dataclass

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.lateral import FEW


@dataclass(frozen=True)
class Weights:
    """Expected numbers of weights by what they multiply."""

    first: float
    second: float
    lateral: float
    recurrent: float

    @classmethod
    def of(cls, architecture: Architecture) -> "Weights":
        """Of one network, laterals by their expectation."""
        C, W = architecture.columns, architecture.width
        G = len(CELLS[architecture.cell].gates)
        p = architecture.survival
        own_R = p if architecture.switches.mask_own_recurrence else 1.0
        other_R = p if architecture.switches.mask_recurrence else 1.0
        return cls(
            first=C * W * (architecture.inputs + architecture.sees_own_state),
            second=C * W * W,
            lateral=G * (C * W + C * (C - 1) * W * p),
            recurrent=G * C * (own_R + (C - 1) * other_R) if architecture.recurrent else 0.0,
        )


def operations(architecture: Architecture, steps: int, gradients: float) -> float:
    """Of one network with so many gradients, the truth included."""
    n = Weights.of(architecture)
    forward = n.first + n.second + n.lateral + n.recurrent
    jacobian = n.second + n.lateral if architecture.sees_own_state else 0.0  # one tangent per column, then U
    # Credit of features, then of the first layer: where laterals are few all gradients share that, once for each gate.
    listed = architecture.survival < FEW
    back = gradients * n.lateral + (len(CELLS[architecture.cell].gates) if listed else gradients) * n.second
    gradient = n.first + n.second + n.lateral + n.recurrent
    return 2.0 * steps * (forward + jacobian + back + gradients * gradient)
