"""Claims on the cost of a step. This table imports no pandas."""

from colrun.verdicts import ONCE, ClaimEntry

CLAIMS = {
    "linear-cost": ClaimEntry(
        f"{__name__}.linear", "O(|θ|) operations and memory per step",
        "exponent in |θ| within 0.1 of 1, elementwise work counted; rtrl above it", ("cost",), ONCE, of_any=True,
        order=200,
    )
}  # fmt: skip
