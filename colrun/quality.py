"""The metrics of an estimate by name: columns of rows, and how figures, claims and the report speak of them.

What each is, and how it is computed, stands with the code that computes it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    label: str
    """At an axis."""
    summary: str
    """One line."""
    better: str
    """`higher`, `lower`, or `near 1`."""
    percent: bool = False
    """Whether it is a share, and shown in percent."""
    logarithmic: bool = False
    """Whether figures show it on a logarithmic axis."""
    mark: float | None = None
    """What deserves a line across a panel: what a coin would reach, or the true norm."""


METRICS = {
    "alignment": Metric(
        "gradient alignment", "alignment: share of weights with the right sign", "higher", percent=True, mark=0.5
    ),
    "alignment_released": Metric(
        "gradient alignment, as released", "alignment as the released code counts it", "higher", percent=True, mark=0.5
    ),
    "cosine": Metric("cosine with the true gradient", "cosine of estimate and truth", "higher", mark=0.0),
    "norm_ratio": Metric(
        "norm relative to the true gradient", "norm ratio: size of the estimate over that of the truth", "near 1",
        logarithmic=True, mark=1.0,
    ),
    "mae": Metric("mean absolute error", "mean absolute error", "lower", logarithmic=True),
}  # fmt: skip
"""In the order in which a reader is offered them."""

MEASURED = ("alignment", "alignment_released", "mae", "mean_abs_truth", "cosine", "norm_ratio", "compared")
"""Columns of every row that compares an estimate with the truth."""
SPREAD = ("bias", "variance")
GROUPS = ("first", "second", "own", "lateral", "recurrent")
"""Weights of the first layer (A, b), of the second (B, c), of a column's own features and gates (U_ii, q), of those of
other columns (U_ij), and of states (R)."""
BY_GROUP = ("alignment", "mae", "cosine", "norm_ratio")
GROUP_METRICS = tuple(f"{metric}_{group}" for group in GROUPS for metric in BY_GROUP)
