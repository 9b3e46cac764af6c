"""Names that plug-ins written for version 0.1 import from here; they go with the next version (see legacy.py)."""

from colrun.estimators.legacy import Estimator, Online, StateCredit, predict

__all__ = ["Estimator", "Online", "StateCredit", "predict"]
