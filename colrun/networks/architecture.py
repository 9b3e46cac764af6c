"""What a network is, as plain data: everything but the seed. Imports no torch, so that grids expand quickly."""

from dataclasses import dataclass, field

from colrun.errors import InvalidValueError, choose, positive_int
from colrun.networks import lateral as lateral_levels
from colrun.networks.cells import CELLS
from colrun.networks.readings import Switches, switches


@dataclass(frozen=True)
class Architecture:
    """A columnar network without its random numbers."""

    cell: str = "additive"
    columns: int = 20
    width: int = 50
    """0: no feature layers, every gate sees x(t) itself."""
    lateral: float = 0.0
    inputs: int = 50
    reading: str = "text"
    switches: Switches = field(default_factory=Switches)

    @classmethod
    def of(
        cls,
        cell: str = "additive",
        columns: int = 20,
        width: int = 50,
        lateral: float | str = 0.0,
        inputs: int = 50,
        reading: str = "text",
        **alone: bool | str | None,
    ) -> "Architecture":
        """Check and complete: `lateral` may be a ratio, `"10%"` or `"dense"`; `alone` are single switches."""
        chosen = switches(reading, **alone)
        choose(cell, CELLS, "cell")
        columns, width = positive_int(columns, "columns"), positive_int(width, "width", least=0)
        inputs = positive_int(inputs, "inputs")
        if width == 0 and not chosen.mask_recurrence:
            raise InvalidValueError(
                "mask_recurrence = no keeps every R, and with width 0 these are all lateral weights there are: every "
                "lateral level would be the dense network; leave mask_recurrence at yes."
            )
        return cls(cell, columns, width, lateral_levels.resolve(lateral, columns), inputs, reading, chosen)

    @property
    def recurrent(self) -> bool:
        """Whether R exists."""
        return CELLS[self.cell].recurrent

    @property
    def sees_own_state(self) -> bool:
        """Whether h_i(t-1) enters the feature layers of column i beside x(t)."""
        return self.recurrent and self.switches.own_state and self.width > 0

    @property
    def survival(self) -> float:
        """p, the probability that a maskable weight exists."""
        return lateral_levels.survival(self.lateral, self.columns)
