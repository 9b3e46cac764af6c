"""What a toy experiment shows and claims: the two tables that its declaration takes."""

from colrun.drawing import FigureEntry
from colrun.verdicts import ONCE, ClaimEntry

FIGURES = {"tiny-toy": FigureEntry("tests.toy.figure", "a toy's mean value along time", {"tiny-toy": "toy"})}
CLAIMS = {
    "toy-is-positive": ClaimEntry(
        "tests.toy.claim", "a toy's value stays above zero", "last step: mean value > 0", ("tiny-toy",), ONCE
    )
}
