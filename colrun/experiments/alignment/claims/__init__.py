"""Claims on how close gradients are. This table imports no pandas."""

from colrun.verdicts import ClaimEntry

RECURRENT, META, SHAPES = (f"{__name__}.{module}" for module in ("recurrent", "meta", "shapes"))

CLAIMS = {
    "exact-without-lateral": ClaimEntry(
        RECURRENT, "exact with no lateral connections",
        "s = 0, every network: alignment ≥ 0.9999 and mae/mean_abs_truth < 1e-5", ("rnn-alignment", "gru-alignment"),
        of_any=True, order=10,
    ),
    "degrades-with-lateral": ClaimEntry(
        RECURRENT, "gets worse as lateral connections grow",
        "Spearman correlation of level and mean alignment ≤ -0.9", ("rnn-alignment",), of_any=True, order=20,
    ),
    "beats-tbptt-when-sparse": ClaimEntry(
        RECURRENT, "better than T-BPTT with window 40 when laterals are few",
        "every 0 < s ≤ 1 %: master-user ahead of tbptt-40", ("rnn-alignment",), of_any=True, order=30,
    ),
    "tbptt-insensitive": ClaimEntry(
        RECURRENT, "sparsity has little effect on T-BPTT",
        "each window, s ≤ 100 %: range of its level means under a third of master-user's", ("rnn-alignment",),
        order=40,
    ),
    "tbptt-improves-with-window": ClaimEntry(
        RECURRENT, "the larger the window, the better T-BPTT",
        "no inversion beyond 2 paired standard errors at any s", ("rnn-alignment",), order=50,
    ),
    "meta-near-exact": ClaimEntry(
        META, "close to exact for the meta-gradient",
        "s = 0: mean alignment of master-user ≥ 0.99", ("meta-alignment",), of_any=True, order=60,
    ),
    "meta-beats-all-when-sparse": ClaimEntry(
        META, "better than any window for the meta-gradient when laterals are few",
        "every s ≤ 1 %: master-user ahead of tbptt-40", ("meta-alignment",), of_any=True, order=70,
    ),
    "meta-beats-tbptt-10": ClaimEntry(
        META, "up to 10 % better than window 10 for the meta-gradient",
        "every s ≤ 10 %: master-user ahead of tbptt-10", ("meta-alignment",), of_any=True, order=80,
    ),
    "meta-benefit-smaller": ClaimEntry(
        META, "the benefit is less pronounced than for the recurrent gradient",
        "mean lead over windows 1, 5, 40 at s ≤ 1 %: smaller in meta- than in rnn-alignment",
        ("meta-alignment", "rnn-alignment"), of_any=True, order=90,
    ),
    "meta-matters": ClaimEntry(
        META, "ignoring the meta-gradient leaves under 90 % aligned",
        "s = 0, each α: without it < 0.9, and master-user ahead", ("meta-ablation",), order=100,
    ),
    "meta-mae": ClaimEntry(
        META, "ignoring the meta-gradient raises the mean absolute error by half",
        "s = 0, each α: ratio of mean MAEs in 1.3 … 1.7", ("meta-ablation",), order=110,
    ),
    "gru-helps-tbptt": ClaimEntry(
        RECURRENT, "small windows do better on a GRU",
        "s = 0, windows 1, 3, 5: gru-alignment above rnn-alignment by 2 standard errors",
        ("gru-alignment", "rnn-alignment"), order=140,
    ),
    "step-size-hurts-tbptt": ClaimEntry(
        META, "large step sizes hurt T-BPTT, even window 40",
        "s = 0, every window: α = 1e-3 ahead of 1e-1", ("step-size",), order=150,
    ),
    "small-step-any-window": ClaimEntry(
        META, "at a small step size even window 1 is good",
        "s = 0, α = 1e-3: mean alignment of tbptt-1 ≥ 0.9", ("step-size",), order=160,
    ),
    "step-size-spares-master-user": ClaimEntry(
        META, "Master-User does not depend on the step size",
        "s = 0 and 10 %: range of its means over α under 2 points", ("step-size",), of_any=True, order=170,
    ),
    "shape-independent": ClaimEntry(
        SHAPES, "the numbers of columns and units do not change the picture",
        "degrades-, beats-, improves- and meta-beats-tbptt-10 hold in ≥ 90 % of configurations, Holm-corrected",
        ("rnn-grid", "meta-grid"), ("text",), of_any=True, order=190,
    ),
}  # fmt: skip
