"""What an algorithm should cost per step, as a product of powers. Imports no torch."""

from dataclasses import dataclass

AXES = ("parameters", "columns", "steps", "window")
"""What a network is grown along: `parameters` is |θ| by the width W at a fixed number of columns; `columns` is C at a
fixed width and lateral ratio, where |θ| and the number of activations grow like C."""


@dataclass(frozen=True)
class Power:
    """|θ|^parameters · |h|^states · |activations|^activations · |reached|^reached · T^steps · k^window, w not learning.

    Activations are the numbers of one forward step, so also the rows of all weight matrices. What is reached are the
    states that a weight tracks: as many however many columns there are, if each has the same number of connections.
    """

    parameters: int = 0
    states: int = 0
    activations: int = 0
    reached: int = 0
    steps: int = 0
    window: int | None = 0
    """None where theory says how cost grows with k in no closed form."""

    def along(self, axis: str, even: bool = False) -> int | None:
        """The exponent along one of `AXES`; None where it is no pure power.

        Activations are no power of |θ|. Nor is what is reached: the wider columns are, the more of them have a weight
        between them; unless the network is `even`, with all lateral connections or none.
        """
        if axis == "parameters":
            return None if self.activations or (self.reached and not even) else self.parameters
        if axis == "columns":
            return self.parameters + self.states + self.activations
        return {"steps": self.steps, "window": self.window}[axis]
