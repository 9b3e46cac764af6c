"""Rows of computed jobs made visible as one part, without what another process has published meanwhile."""

from dataclasses import dataclass
from typing import Any

from colrun.estimators import EstimatorName
from colrun.experiments import Experiment, Row
from colrun.store.index import Done, Watch, forget_failure, publish, refuse_mixing
from colrun.store.join import group
from colrun.store.parts import PartIndex, encode, make_table
from colrun.sweep.plan import Job, Piece, Unit


@dataclass
class Published:
    """What became of the jobs."""

    elsewhere: int = 0
    """Published by another process meanwhile."""
    diverged: int = 0

    def __iadd__(self, other: "Published") -> "Published":
        self.elsewhere += other.elsewhere
        self.diverged += other.diverged
        return self


def publish_rows(
    watch: Watch, experiment: Experiment[Any], sweep: str, run: str, rows: dict[Job, list[Row]], seconds: float
) -> Published:
    """All at once; `seconds` is the work behind them. A failure of such a job is forgotten."""
    outcome = Published()
    keys = {key for piece, _ in rows for key in piece.estimators}

    def part(known: Done) -> bytes | None:
        refuse_mixing(watch.paths, experiment, keys, known)
        kept: list[Row] = []
        pieces: list[Piece] = []
        done: dict[str, dict[int, list[str]]] = {}
        outcome.elsewhere = outcome.diverged = 0
        for (piece, seed), found in rows.items():
            names = known.missing(piece.id, seed, piece.estimators)
            if names is None:
                outcome.elsewhere += 1
                continue
            kept += [row for row in found if not names or _estimator(row) in names]
            pieces.append(Piece(piece.config, piece.id, names, (seed,)))
            done.setdefault(piece.id, {}).setdefault(seed, []).extend(names or ("",))
            outcome.diverged += any(row["diverged"] for row in found)
        if not kept:
            return None
        index = PartIndex(
            experiment=experiment.name,
            numerics=experiment.numerics,
            done={config: group(seeds) for config, seeds in done.items()},
            rows=len(kept),
            diverged=outcome.diverged,
            run=run,
            seconds=seconds,
            estimated=Unit(experiment.name, tuple(pieces)).seconds,
        )
        return encode(make_table(experiment, sweep, kept), index)

    publish(watch, part)
    for piece, seed in rows:
        forget_failure(watch.paths, f"{piece.id}.{seed}", piece.estimators)
    return outcome


def _estimator(row: Row) -> str:
    return EstimatorName(row["estimator"], row["window"], row.get("plugin"), row.get("estimator_numerics", 1)).key
