"""Drawing: a columnar network of three columns with lateral connections."""

from matplotlib.figure import Figure

from colrun.drawing.shapes import COLUMN_COLOURS, TINTS, arrow, box, sheet, unit, write
from colrun.drawing.source import Source
from colrun.drawing.style import BLACK, DASHED, GREY

X = (0.95, 2.2, 3.45)
INPUT, LAYER1, LAYER2, STATE, OUTPUT = 0.3, 0.95, 1.5, 2.25, 2.95
SPREAD = (-0.27, -0.09, 0.09, 0.27)
RADIUS = 0.06


def draw(source: Source) -> Figure:
    """Inputs below, prediction on top; what a column owns in its colour, lateral connections dashed."""
    style = source.style
    figure, ax = sheet(style, 5.6, 3.3)
    for i, (x, colour, tint) in enumerate(zip(X, COLUMN_COLOURS, TINTS, strict=True), start=1):
        box(ax, style, (x - 0.42, LAYER1 - 0.17), (0.84, STATE - LAYER1 + 0.39), colour, tint)
        for layer in (LAYER1, LAYER2):
            for shift in SPREAD:
                unit(ax, style, (x + shift, layer), colour, RADIUS)
        for a in SPREAD:
            for b in SPREAD:
                arrow(ax, style, (x + a, LAYER1), (x + b, LAYER2), colour, width=0.35, gap=4.2, head=False)
            arrow(ax, style, (x + a, LAYER2), (x, STATE), colour, width=0.7, gap=4.5, head=False)
        unit(ax, style, (x, STATE), colour, 0.14, f"$h_{i}$")
        arrow(ax, style, (x + 0.09, STATE + 0.10), (x + 0.10, STATE - 0.10), colour, bend=-1.9, gap=0.5, width=0.9)
        arrow(ax, style, (X[1] + 0.3 * (x - X[1]), INPUT + 0.15), (x, LAYER1 - 0.17), GREY, gap=1, width=1.0)
        arrow(ax, style, (x, STATE), (X[1], OUTPUT), BLACK, gap=10.5, width=1.1)
        write(ax, style, ((x + X[1]) / 2 + (0.12 if x == X[1] else 0.16 * (1 if x > X[1] else -1)), 2.68), f"$w_{i}$")
    for j, i, bend in ((0, 1, 0.0), (1, 2, 0.0), (2, 1, 0.0)):  # few: that is what keeps Master-User accurate
        side = 1 if X[i] > X[j] else -1
        start = (X[j] + side * SPREAD[-1], LAYER2 + 0.03)
        arrow(ax, style, start, (X[i] - side * 0.1, STATE - 0.09), COLUMN_COLOURS[j], DASHED, 1.1, bend, gap=3.0)
    arrow(ax, style, (X[0], STATE + 0.10), (X[1], STATE + 0.10), COLUMN_COLOURS[0], DASHED, 1.1, -0.25, gap=7.5)
    box(ax, style, (X[1] - 0.55, INPUT - 0.15), (1.1, 0.3), GREY, (1.0, 1.0, 1.0))
    write(ax, style, (X[1], INPUT), "input $x(t)$")
    unit(ax, style, (X[1], OUTPUT), BLACK, 0.14, "$y$")
    notes = {
        OUTPUT: "prediction $y = \\sum_i w_i h_i$",
        STATE: "one state per column",
        LAYER2: "features $f_i$",
        LAYER1: "$z_i$, sees $x(t)$ and $h_i(t-1)$",
    }
    for y, text in notes.items():
        write(ax, style, (4.02, y), text, GREY, ha="left", small=True)
    arrow(ax, style, (4.02, 0.42), (4.37, 0.42), GREY, "-", 1.1, gap=0)
    write(ax, style, (4.45, 0.42), "own connection", GREY, ha="left", small=True)
    arrow(ax, style, (4.02, 0.2), (4.37, 0.2), GREY, DASHED, 1.1, gap=0)
    write(ax, style, (4.45, 0.2), "lateral ($U_{ij}$, $R_{ij}$)", GREY, ha="left", small=True)
    return figure
