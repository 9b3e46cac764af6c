"""Claims on rows of several experiments. This table imports no pandas."""

from colrun.verdicts import ClaimEntry

CLAIMS = {
    "poor-on-dense": ClaimEntry(
        f"{__name__}.dense", "Master-User on standard RNNs is unlikely to work well",
        "random groups in a dense RNN, and the dense level: mean alignment < 0.7", ("rnn-alignment", "grouping"),
        of_any=True, order=180,
    )
}  # fmt: skip
