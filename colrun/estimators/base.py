"""What an estimator must offer for sweeps: a credit form, valid because θ is fixed over the sequence.

Its online form (online.py), as published, gives the same gradients; the contract tests check it for every registered
estimator.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Sequence as Several
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from colrun.estimators.legacy import Online as Online  # for plug-ins written for version 0.1
from colrun.estimators.legacy import predict as predict
from colrun.estimators.theory import Power
from colrun.networks.base import Gradients
from colrun.networks.contraction import contract, spread
from colrun.networks.dense import DenseBatch
from colrun.networks.trajectory import Trajectory

if TYPE_CHECKING:
    from colrun.compiled import Compiled


class Estimator(ABC):
    """One algorithm. `window` is the number after its name, None where there is none."""

    needs_columns: ClassVar[bool] = False
    """Whether it is defined on columnar networks only."""
    undefined: ClassVar[Mapping[str, str]] = {}
    """Of a plug-in: cells on which it is not defined, each with the reason; colrun's own have it in their table."""
    takes_lists: ClassVar[bool] = False
    """Whether its online form runs on networks whose lateral weights are lists (networks/listed.py)."""
    operations: ClassVar[Power | None] = None
    """What the online form should cost per step; the tests hold it against what the experiment `cost` counts."""
    memory: ClassVar[Power | None] = None
    """What it should hold between steps, besides weights and the gradient's sum."""

    @abstractmethod
    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """The credit form on a batch of networks, for several windows at once; tensors are (N, …)."""

    def dense_gradients(self, batch: DenseBatch, step_size: float | None) -> Gradients | None:  # noqa: ARG002
        """The credit form on a batch of dense networks, (N, …); None if there is one for columnar networks only."""
        return None


class StateCredit(Estimator):
    """An estimator given by a credit of states, and whether that credit crosses columns."""

    crosses: ClassVar[bool]

    @abstractmethod
    def credits(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Tensor]:
        """c of shape (N, T, S, C) for each window."""

    def compiled_credits(self, run: "Compiled", windows: Several[int | None]) -> list[Tensor]:
        """The same by compiled kernels, where an estimator has them."""
        return self.credits(run.trajectory, windows)

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """Contract each credit with the local gradient."""
        credits = self.credits(trajectory, windows)
        return [contract(trajectory, spread(trajectory, credit, self.crosses)) for credit in credits]
