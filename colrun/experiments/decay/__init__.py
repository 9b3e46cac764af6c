"""Experiment `decay`: how fast untrained LSTM and GRU cells forget a state of ones.

Rows: one per step (0 is the start) and quantity, `h` (hidden state) or `memory` (the LSTM's cell state).
"""

from dataclasses import dataclass

from colrun.experiments import axes
from colrun.experiments.decay.claims import CLAIMS
from colrun.experiments.decay.figures import FIGURES
from colrun.experiments.declare import Experiment, expand_plain, flag, real, text, whole
from colrun.experiments.network import DTYPES

SECONDS = 0.003


@dataclass(frozen=True)
class DecayConfig:
    """A cell of PyTorch without its seed."""

    cell: str = axes.choice(("lstm", "gru"), "lstm", "torch.nn.LSTM or torch.nn.GRU")
    hidden: int = axes.integer(50, "hidden units")
    bias: bool = axes.switch(False, "with biases")
    dtype: str = axes.choice(DTYPES, "float32", "precision of the computation")
    steps: int = axes.integer(20, "steps from a state of ones")
    inputs: int = axes.integer(50, "number of inputs")


EXPERIMENT = Experiment(
    name="decay",
    summary="how fast untrained LSTM and GRU cells forget a state of ones",
    config=DecayConfig,
    expand=expand_plain(DecayConfig),
    columns=(
        *text("cell"),
        *whole("hidden"),
        *flag("bias"),
        *whole("seed", "step"),
        *text("quantity"),
        *real("value"),
        *flag("diverged"),
        *text("dtype"),
        *whole("steps", "inputs"),
    ),
    batch_size=lambda _: 1,  # networks run one by one: each is a few small products
    shared=lambda config: config,
    seconds=lambda _config, _estimators: SECONDS,
    job=f"{__name__}.job",
    numerics=1,
    takes_estimators=False,
    along=("step", "quantity"),
    figures=FIGURES,
    claims=CLAIMS,
)
