"""What a run costs, roughly. Imports no torch."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from colrun.experiments.learning import LearningConfig


def seconds(config: "LearningConfig", estimators: tuple[str, ...]) -> float:
    return len(estimators) * config.steps * 1e-6
