"""What a learner is made of, and what one step of it gives."""

from dataclasses import dataclass
from typing import NamedTuple

from colrun.estimators import EstimatorName
from colrun.networks.base import Gradients


class Learned(NamedTuple):
    """One step."""

    prediction: float
    """Made before anything was learned from the step."""
    error: float
    """δ(t), the target less the prediction"""
    gradient: Gradients | None
    """ĝ(t) by name, if it was asked for and there is one: not at a step that is not counted, nor within a block."""


@dataclass(frozen=True)
class Setting:
    """What a learner is made of, besides its network."""

    estimator: EstimatorName
    optimiser: str
    theta_step_size: float | None
    step_size: float | None
    meta: bool
    readout_bias: bool
    draw: int
