"""What an algorithm should cost per step, as a product of powers. Imports no torch."""

from dataclasses import dataclass

AXES = ("parameters", "columns", "steps", "window")
"""What a network is grown along: `parameters` is |θ| by the width W at a fixed number of columns; `columns` is C at a
fixed width and lateral ratio, where |θ| and the number of activations grow like C."""


@dataclass(frozen=True)
class Power:
    """|θ|^parameters · |h|^states · |activations|^activations · T^steps · k^window."""

    parameters: int = 0
    states: int = 0
    activations: int = 0
    steps: int = 0
    window: int | None = 0
    """None where theory says how cost grows with k in no closed form."""

    def along(self, axis: str) -> int | None:
        """The exponent along one of `AXES`; None where it is no pure power: activations are no power of |θ|."""
        if axis == "parameters":
            return None if self.activations else self.parameters
        if axis == "columns":
            return self.parameters + self.states + self.activations
        return {"steps": self.steps, "window": self.window}[axis]
