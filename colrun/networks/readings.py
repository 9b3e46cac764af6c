"""Readings: named sets of the switches by which the paper's text and the released code differ."""

from dataclasses import dataclass, fields, replace

from colrun.errors import InvalidValueError, choose

INITS = ("xavier", "pytorch")


@dataclass(frozen=True)
class Switches:
    """What a reading sets. Each switch can also be set alone."""

    init: str = "xavier"
    """`xavier`: uniform Xavier weights, biases 0. `pytorch`: weights and biases uniform in ±1/√fan-in."""
    own_state: bool = True
    """Columns see h_i(t-1) beside x(t)."""
    state_bias: bool = False
    """A trainable bias in every p."""
    mask_own_recurrence: bool = False
    """R_ii is masked like a lateral weight."""
    mask_recurrence: bool = True
    """R_ij, j ≠ i, is masked like U_ij; False keeps every R_ij, and then nothing is exact at s = 0.

    R_ii follows `mask_own_recurrence`, whatever this switch says.
    """

    def __post_init__(self) -> None:
        choose(self.init, INITS, "init")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "init" and not isinstance(value, bool):
                raise InvalidValueError(f"switch {field.name} is {value!r}; it must be true or false.")


SWITCHES = tuple(field.name for field in fields(Switches))

READINGS: dict[str, Switches] = {
    "text": Switches(),
    "release": Switches(init="pytorch", own_state=False, state_bias=True, mask_own_recurrence=True),
    "practical": Switches(init="pytorch", state_bias=True),
}

PAPER = ("text", "release")
"""Those in which the paper's claims are judged."""

SUMMARIES = {
    "text": "the paper's words: Xavier, columns see their own state, no bias in p, R_ii never masked",
    "release": "what the released code does: PyTorch's default init, columns see x only, bias in p, R_ii masked",
    "practical": "for learning: PyTorch's default init, columns see their own state, bias in p, R_ii never masked",
}


def switches(reading: str, **alone: bool | str | None) -> Switches:
    """The switches of a reading, with those set alone replaced (None: as the reading has it)."""
    for name in alone:
        choose(name, SWITCHES, "switch")
    chosen = READINGS[choose(reading, READINGS, "reading")]
    return replace(chosen, **{k: v for k, v in alone.items() if v is not None})  # type: ignore[arg-type]
