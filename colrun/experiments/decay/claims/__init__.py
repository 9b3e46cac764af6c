"""Claims on untrained cells. This table imports no pandas."""

from colrun.verdicts import ONCE, ClaimEntry

CLAIMS = {
    "decay-fast": ClaimEntry(
        f"{__name__}.forgetting", "untrained cells without bias forget, whatever the size",
        "mean |h| < 0.1 after 5 steps and < 0.01 after 10, every cell and size", ("state-decay",), ONCE, order=120,
    ),
    "decay-bias-constant": ClaimEntry(
        f"{__name__}.forgetting", "with bias they settle at a non-zero constant",
        "relative change from step 15 to 20 < 1 %, value > 0.01, every cell and size", ("state-decay",), ONCE,
        order=130,
    ),
}  # fmt: skip
