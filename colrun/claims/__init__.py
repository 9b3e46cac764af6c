"""Claims: the paper's sentences, judged by stored rows. Each is declared by the experiment that it is about."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from colrun.experiments import EXPERIMENTS
from colrun.experiments.across.claims import CLAIMS as ACROSS
from colrun.verdicts import ClaimEntry

if TYPE_CHECKING:
    from colrun.verdicts.verdict import Verdict


def known_claims() -> dict[str, ClaimEntry]:
    """Those of every experiment and those that span several, in their order. Imports no pandas."""
    tables = [*(experiment.claims for experiment in EXPERIMENTS.values()), ACROSS]
    every = {name: entry for table in tables for name, entry in table.items()}
    return dict(sorted(every.items(), key=lambda pair: pair[1].order))


def get_claim(name: str) -> "Callable[..., Verdict]":
    """The function that decides a claim."""
    found: Callable[..., Verdict] = getattr(import_module(known_claims()[name].module), name.replace("-", "_"))
    return found
