"""Names of the metrics, as columns of rows have them; what each is stands with the code that computes it."""

METRICS = ("alignment", "alignment_released", "mae", "mean_abs_truth", "cosine", "norm_ratio", "compared")
SPREAD = ("bias", "variance")
GROUPS = ("first", "second", "own", "lateral", "recurrent")
"""Weights of the first layer (A, b), of the second (B, c), of a column's own features and gates (U_ii, q), of those of
other columns (U_ij), and of states (R)."""
BY_GROUP = ("alignment", "mae", "cosine", "norm_ratio")
GROUP_METRICS = tuple(f"{metric}_{group}" for group in GROUPS for metric in BY_GROUP)
