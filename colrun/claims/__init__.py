"""Claims: the paper's sentences, each with the rows and the test that decide it. This table imports no pandas.

A claim is one function, `module.name` with underscores: the DataFrames of its sweeps in, a `Verdict` out. Where the
claim is about Master-User alone, the function takes the estimator `who` to ask in its place, such as a plug-in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from colrun.claims.verdict import Verdict

BOTH = ("text", "release")
TEXT = ("text",)
ONCE = (None,)
"""For what no reading touches, such as torch's own cells."""


@dataclass(frozen=True)
class Claim:
    """One claim."""

    module: str
    sentence: str
    """The paper's, in short."""
    test: str
    """What decides it."""
    sweeps: tuple[str, ...]
    """Whose rows its function takes, in this order; without rows, an empty frame."""
    readings: tuple[str | None, ...] = BOTH
    of_any: bool = False
    """Whether its function can ask another estimator in Master-User's place."""


CLAIMS: dict[str, Claim] = {
    "exact-without-lateral": Claim(
        "recurrent", "exact with no lateral connections",
        "s = 0, every network: alignment ≥ 0.9999 and mae/mean_abs_truth < 1e-5", ("rnn-alignment", "gru-alignment"),
        of_any=True,
    ),
    "degrades-with-lateral": Claim(
        "recurrent", "gets worse as lateral connections grow",
        "Spearman correlation of level and mean alignment ≤ -0.9", ("rnn-alignment",), of_any=True,
    ),
    "beats-tbptt-when-sparse": Claim(
        "recurrent", "better than T-BPTT with window 40 when laterals are few",
        "every 0 < s ≤ 1 %: master-user ahead of tbptt-40", ("rnn-alignment",), of_any=True,
    ),
    "tbptt-insensitive": Claim(
        "recurrent", "sparsity has little effect on T-BPTT",
        "each window, s ≤ 100 %: range of its level means under a third of master-user's", ("rnn-alignment",),
    ),
    "tbptt-improves-with-window": Claim(
        "recurrent", "the larger the window, the better T-BPTT",
        "no inversion beyond 2 paired standard errors at any s", ("rnn-alignment",),
    ),
    "meta-near-exact": Claim(
        "meta", "close to exact for the meta-gradient",
        "s = 0: mean alignment of master-user ≥ 0.99", ("meta-alignment",), of_any=True,
    ),
    "meta-beats-all-when-sparse": Claim(
        "meta", "better than any window for the meta-gradient when laterals are few",
        "every s ≤ 1 %: master-user ahead of tbptt-40", ("meta-alignment",), of_any=True,
    ),
    "meta-beats-tbptt-10": Claim(
        "meta", "up to 10 % better than window 10 for the meta-gradient",
        "every s ≤ 10 %: master-user ahead of tbptt-10", ("meta-alignment",), of_any=True,
    ),
    "meta-benefit-smaller": Claim(
        "meta", "the benefit is less pronounced than for the recurrent gradient",
        "mean lead over windows 1, 5, 40 at s ≤ 1 %: smaller in meta- than in rnn-alignment",
        ("meta-alignment", "rnn-alignment"), of_any=True,
    ),
    "meta-matters": Claim(
        "meta", "ignoring the meta-gradient leaves under 90 % aligned",
        "s = 0, each α: without it < 0.9, and master-user ahead", ("meta-ablation",),
    ),
    "meta-mae": Claim(
        "meta", "ignoring the meta-gradient raises the mean absolute error by half",
        "s = 0, each α: ratio of mean MAEs in 1.3 … 1.7", ("meta-ablation",),
    ),
    "decay-fast": Claim(
        "decay", "untrained cells without bias forget, whatever the size",
        "mean |h| < 0.1 after 5 steps and < 0.01 after 10, every cell and size", ("state-decay",), ONCE,
    ),
    "decay-bias-constant": Claim(
        "decay", "with bias they settle at a non-zero constant",
        "relative change from step 15 to 20 < 1 %, value > 0.01, every cell and size", ("state-decay",), ONCE,
    ),
    "gru-helps-tbptt": Claim(
        "recurrent", "small windows do better on a GRU",
        "s = 0, windows 1, 3, 5: gru-alignment above rnn-alignment by 2 standard errors",
        ("gru-alignment", "rnn-alignment"),
    ),
    "step-size-hurts-tbptt": Claim(
        "meta", "large step sizes hurt T-BPTT, even window 40",
        "s = 0, every window: α = 1e-3 ahead of 1e-1", ("step-size",),
    ),
    "small-step-any-window": Claim(
        "meta", "at a small step size even window 1 is good",
        "s = 0, α = 1e-3: mean alignment of tbptt-1 ≥ 0.9", ("step-size",),
    ),
    "step-size-spares-master-user": Claim(
        "meta", "Master-User does not depend on the step size",
        "s = 0 and 10 %: range of its means over α under 2 points", ("step-size",), of_any=True,
    ),
    "poor-on-dense": Claim(
        "dense", "Master-User on standard RNNs is unlikely to work well",
        "random groups in a dense RNN, and the dense level: mean alignment < 0.7", ("rnn-alignment", "grouping"),
        of_any=True,
    ),
    "shape-independent": Claim(
        "shapes", "the numbers of columns and units do not change the picture",
        "degrades-, beats-, improves- and meta-beats-tbptt-10 hold in ≥ 90 % of configurations, Holm-corrected",
        ("rnn-grid", "meta-grid"), TEXT, of_any=True,
    ),
    "linear-cost": Claim(
        "cost", "O(|θ|) operations and memory per step",
        "exponent in |θ| within 0.1 of 1, elementwise work counted; rtrl above it", ("cost",), ONCE, of_any=True,
    ),
}  # fmt: skip


def get_claim(name: str) -> "Callable[..., Verdict]":
    """The function that decides a claim."""
    found: Callable[..., Verdict] = getattr(
        import_module(f"colrun.claims.{CLAIMS[name].module}"), name.replace("-", "_")
    )
    return found
