"""The fast form of tbptt-block: see tbptt_block.py."""

from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.run import Run


class BlockTBPTT(FastForm):
    """Exact within blocks."""

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """One pass back per block length."""
        return [run.adjoint(min(window, run.shape[1])) for window in windows if window is not None]


FAST = {"tbptt-block": BlockTBPTT()}
