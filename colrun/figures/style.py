"""How every figure looks: fonts, lines, and one colour, dash and marker per estimator that differ in grey as well."""

from dataclasses import dataclass, replace
from typing import Any

import matplotlib
import seaborn as sns

Colour = tuple[float, float, float]

BLACK, GREY, WARNING = (0.0, 0.0, 0.0), (0.35, 0.35, 0.35), (0.70, 0.16, 0.0)
MARKERS = "os^DvPX<>hp*"
SOLID: Any = "-"
DASHED: Any = (0, (3.5, 1.6))
DOTTED: Any = (0, (1, 1.4))
DASHDOT: Any = (0, (5, 1.4, 1, 1.4))


@dataclass(frozen=True)
class Style:
    """Sizes: `font` in points, `scale` of panels, `line` of line widths."""

    name: str
    font: float
    scale: float
    line: float

    @property
    def small(self) -> float:
        """Points of what may be small: tick labels, notes, labels at curve ends. 7 is the least that prints well."""
        return self.font - 0.5

    def em(self, number: float = 1.0) -> float:
        """Lines of text in inches."""
        return number * self.font * 1.2 / 72

    def rc(self) -> Any:
        """Matplotlib's settings for drawing and saving."""
        look = dict(sns.axes_style("ticks"))
        return {
            **look,
            "font.family": ["sans-serif"],
            "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same on every machine
            "font.size": self.font,
            "axes.labelsize": self.font,
            "axes.titlesize": self.font,
            "legend.fontsize": self.small,
            "xtick.labelsize": self.small,
            "ytick.labelsize": self.small,
            "axes.linewidth": 0.6 * self.line,
            "xtick.major.width": 0.6 * self.line,
            "ytick.major.width": 0.6 * self.line,
            "xtick.minor.width": 0.4 * self.line,
            "ytick.minor.width": 0.4 * self.line,
            "xtick.major.size": 3 * self.line,
            "ytick.major.size": 3 * self.line,
            "xtick.minor.size": 1.8 * self.line,
            "ytick.minor.size": 1.8 * self.line,
            "xtick.major.pad": 2.5,
            "ytick.major.pad": 2.5,
            "legend.frameon": False,
            "svg.fonttype": "path",
            "svg.hashsalt": "colrun",
            "pdf.fonttype": 42,
        }


STYLES = {"paper": Style("paper", 7.5, 1.0, 1.0), "talk": Style("talk", 13.0, 1.5, 1.7)}


@dataclass(frozen=True)
class Look:
    """Of one curve."""

    colour: Colour
    dash: Any = SOLID
    marker: str = ""
    hollow: bool = False
    width: float = 1.0
    name: str = ""
    """In full, for a legend."""
    short: str = ""
    """At the curve's end."""


def window_colour(place: int, of: int) -> Colour:
    """Light to dark, so that the order shows in grey too; the palest of the colour map are left out."""
    at = 0.72 - 0.62 * (place / max(1, of - 1))
    red, green, blue, _ = matplotlib.colormaps["viridis"](at)
    return (float(red), float(green), float(blue))


PALETTE: dict[str, tuple[int, Any]] = {
    "master-user-groups": (3, DASHDOT),
    "master-user-no-meta": (3, DASHED),
    "dense-rnn": (9, DOTTED),
    "snap": (0, SOLID),
    "uoro": (1, DASHED),
    "nobacktrack": (4, DASHDOT),
    "kf-rtrl": (2, DASHED),
    "rflo": (5, DASHDOT),
    "rflo-symmetric": (9, DASHED),
    "elman": (7, DOTTED),
    "rtrl": (7, DOTTED),
    "bptt": (7, DOTTED),
}
"""Place in seaborn's colour-blind palette and dash."""
NAMES = {
    "master-user": "Master-User",
    "master-user-no-meta": "no meta-gradient",
    "master-user-groups": "random groups",
    "dense-rnn": "random groups, dense RNN",
    "snap": "SnAp",
    "uoro": "UORO",
    "nobacktrack": "NoBackTrack",
    "kf-rtrl": "KF-RTRL",
    "rflo": "RFLO",
    "rflo-symmetric": "RFLO, feedback w",
    "elman": "Elman",
    "rtrl": "RTRL",
    "bptt": "BPTT",
}


SHORT = {
    "master-user": "MU",
    "master-user-groups": "groups",
    "dense-rnn": "RNN",
    "nobacktrack": "NoBT",
    "kf-rtrl": "KF",
    "rflo-symmetric": "RFLO w",
}
"""Where the full name would not fit beside a panel."""


def looks(estimators: list[tuple[str, int | None]]) -> dict[tuple[str, int | None], Look]:
    """A look for each estimator and window of a figure; those without a place in the table take what is left."""
    windows = sorted({w for family, w in estimators if w is not None and family.startswith("tbptt")})
    colours = [tuple(colour) for colour in sns.color_palette("colorblind")]
    found: dict[tuple[str, int | None], Look] = {}
    spare = iter([9, 1, 2, 4] * len(estimators))
    for family, window in sorted(estimators, key=lambda pair: (pair[0], pair[1] or 0)):
        number = "" if window is None else f" {window}"
        name = NAMES.get(family, family) + number
        if family == "master-user":
            look = Look(BLACK, width=2.2, name=name, short=SHORT[family])
        elif family in ("tbptt", "tbptt-block"):
            place = windows.index(window) if window is not None else 0
            block = family == "tbptt-block"
            look = Look(
                window_colour(place, len(windows)), DASHED if block else SOLID, MARKERS[place % len(MARKERS)], block
            )
            look = replace(look, name=f"T-BPTT{' blocks' if block else ''}{number}", short=number.strip())
        else:
            place, dash = PALETTE[family] if family in PALETTE else (next(spare), DASHED)
            marker = MARKERS[(len(found) + 5) % len(MARKERS)]
            look = Look(colours[place], dash, marker, width=1.3, name=name, short=SHORT.get(family, name))
        found[family, window] = look
    return found


METRIC_NAMES = {
    "alignment": "gradient alignment",
    "cosine": "cosine with the true gradient",
    "norm_ratio": "norm relative to the true gradient",
    "mae": "mean absolute error",
}
LOGARITHMIC = ("norm_ratio", "mae")
