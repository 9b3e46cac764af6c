"""`Lanes`: many learners at once, each of one seed and one step size, run for as many steps as they are given."""

from typing import NamedTuple

import numpy as np

from colrun.errors import InvalidValueError, choose
from colrun.lanes.layout import Drawn, draw, layout
from colrun.lanes.learners import METHODS, parse_learner
from colrun.lanes.method import Given, Setting, zeros
from colrun.lanes.readout import BETA_1, BETA_2, OPTIMISERS, Learning, Rule, corrections
from colrun.lanes.vectors import LANES
from colrun.networks.architecture import Architecture
from colrun.networks.draw import initial_w
from colrun.streams import Array, stream


class Sums(NamedTuple):
    """Of the steps just run, per lane."""

    errors: Array
    """Σ δ² over counted steps"""
    counts: Array
    """How many there were; none after a lane has diverged"""


class Lanes:
    """Lane n learns with seed `seeds[n]` and θ's step size `etas[n]`.

    Memory does not grow with the steps. `alpha` is the step size of w, by default 0.2/(C+1).
    """

    def __init__(
        self,
        architecture: Architecture,
        learner: str,
        seeds: list[int],
        etas: list[float],
        *,
        optimiser: str = "rmsprop",
        meta: bool = False,
        alpha: float | None = None,
        readout_bias: bool = True,
        dtype: str = "float32",
        draws: int = 0,
    ) -> None:
        family, number = parse_learner(learner)
        choose(optimiser, OPTIMISERS, "optimiser")
        if len(seeds) != len(etas) or not seeds:
            raise InvalidValueError("lanes need a seed and a step size each, and there must be at least one.")
        self.size = len(seeds)
        self.architecture, self.family, self.draw = architecture, family, draws
        self.distinct = list(dict.fromkeys(seeds))
        self.steps = 0
        filled = -len(seeds) % LANES
        seeds, etas = [*seeds, *seeds[-1:] * filled], [*etas, *etas[-1:] * filled]
        self.of_seed = np.array([self.distinct.index(seed) for seed in seeds])
        kind: np.dtype[np.floating] = np.dtype(dtype)
        alpha = 0.2 / (architecture.columns + 1) if alpha is None else alpha
        drawn = {seed: draw(architecture, seed) for seed in self.distinct}
        self.groups = [
            Group(
                architecture, family, number, seeds[n : n + LANES], [drawn[seed] for seed in seeds[n : n + LANES]],
                np.array(etas[n : n + LANES]), alpha, optimiser, meta, readout_bias, kind,
            )
            for n in range(0, len(seeds), LANES)
        ]  # fmt: skip
        self.noise = {}
        if self.groups[0].method.noise:
            self.noise = {seed: stream(seed, f"{family}.{draws}") for seed in self.distinct}

    def run(self, x: Array, y: Array, counted: Array) -> Sums:
        """The next steps: x (steps, inputs, n), y and counted (steps, n), n for every distinct seed or every lane."""
        of = np.arange(len(self.of_seed)) if y.shape[-1] == self.size != len(self.distinct) else self.of_seed
        of = np.minimum(of, y.shape[-1] - 1)
        noise = {seed: _signs(self.noise[seed], len(y), self.groups[0].method.noise) for seed in self.noise}
        each = np.stack([noise[seed] for seed in self.distinct], axis=-1) if noise else np.zeros((len(y), 0, 1))
        sums = []
        for n, group in enumerate(self.groups):
            here, seeds = of[n * LANES : (n + 1) * LANES], self.of_seed[n * LANES : (n + 1) * LANES]
            kind = group.now.theta.dtype
            group.run(
                Given(
                    np.ascontiguousarray(x[..., here], kind), np.ascontiguousarray(y[..., here], kind),
                    np.ascontiguousarray(counted[..., here], kind),
                    np.ascontiguousarray(each[..., seeds if noise else 0], kind),
                ),
                self.steps,
            )  # fmt: skip
            sums.append(group.sums())
        self.steps += len(y)
        return Sums(*(np.concatenate(parts)[: self.size] for parts in zip(*sums, strict=True)))

    @property
    def ended(self) -> Array:
        """The step at which a lane diverged, counted from 0, or -1."""
        found: Array = np.concatenate([group.now.ended for group in self.groups])[: self.size]
        return found

    def theta(self, lane: int) -> dict[str, Array]:
        """θ of a lane by name, 0 where a weight is masked."""
        group = self.groups[lane // LANES]
        return group.listed.spread(group.now.theta[:, lane % LANES])

    def gradient(self, lane: int) -> dict[str, Array]:
        """The last ĝ of a lane by name."""
        group = self.groups[lane // LANES]
        return group.listed.spread((group.method.gradient * group.net.exists)[:, lane % LANES])

    def updates(self, lane: int) -> int:
        """How often θ has learned."""
        return int(self.groups[lane // LANES].now.updates[lane % LANES])

    def start_from(self, lane: int, theta: dict[str, Array], w: Array) -> None:
        """Other weights than those of its seed, before the first step."""
        group, place = self.groups[lane // LANES], lane % LANES
        group.now.theta[:, place] = group.listed.pick([theta] * LANES)[:, place]
        group.now.w[: len(w), place] = w

    def summed(self, lane: int) -> dict[str, Array]:
        """Σ ĝ of a lane by name, where the optimiser is `sum`."""
        group = self.groups[lane // LANES]
        return group.listed.spread((group.now.v * group.net.exists)[:, lane % LANES])

    def w(self, lane: int) -> Array:
        """w and, last, w_0."""
        found: Array = self.groups[lane // LANES].now.w[:, lane % LANES].copy()
        return found

    def states(self, lane: int) -> Array:
        """s (S, C)."""
        found: Array = self.groups[lane // LANES].now.s[:, lane % LANES].reshape(-1, self.architecture.columns).copy()
        return found

    def state(self) -> dict[str, Array]:
        """All that is needed to go on from here, to the bit."""
        found = {"steps": np.array(self.steps)}
        for n, group in enumerate(self.groups):
            found |= {f"{n}.{name}": value.copy() for name, value in group.kept().items()}
        for seed, noise in self.noise.items():
            found[f"noise.{seed}"] = noise.bit_generator.state["state"]["state"].copy()
        return found

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        self.steps = int(state["steps"])
        for n, group in enumerate(self.groups):
            for name, value in group.kept().items():
                value[...] = state[f"{n}.{name}"]
        for seed, noise in self.noise.items():
            whole = noise.bit_generator.state
            whole["state"]["state"] = state[f"noise.{seed}"].copy()
            noise.bit_generator.state = whole

    @property
    def nbytes(self) -> int:
        """What a state holds."""
        return sum(value.nbytes for value in self.state().values())


def _signs(noise: np.random.Generator, steps: int, each: int) -> Array:
    """Fair signs (steps, each), the same in pieces or at once."""
    return np.where(noise.random((steps, each)) < 0.5, 1.0, -1.0)


class Group:
    """LANES lanes."""

    def __init__(
        self, architecture: Architecture, family: str, number: int, seeds: list[int], drawn: list[Drawn], etas: Array,
        alpha: float, optimiser: str, meta: bool, readout_bias: bool, dtype: np.dtype[np.floating],
    ) -> None:  # fmt: skip
        kind = METHODS[choose(family, METHODS, "learner")]
        through = meta and kind.through_lms
        self.net, self.listed = layout(
            architecture, drawn, through, dtype, kind.own_links, kind.own_features, kind.joined
        )
        C, weights = architecture.columns, self.net.source.size
        theta = self.listed.pick(each.theta for each in drawn).astype(dtype)
        w = np.stack([np.append(initial_w(seed, C), 0.0) for seed in seeds], axis=1).astype(dtype)
        self.now = Learning(
            theta, zeros(dtype, weights), zeros(dtype, weights if optimiser == "adam" else 1),
            zeros(dtype, self.net.P), w, zeros(dtype, (C + 1) * self.net.Q if through else 1),
            np.zeros(LANES, np.int64), np.zeros((weights, LANES), np.int64), np.ones((1, LANES), dtype),
            np.full(LANES, -1), np.zeros((1, LANES)), np.zeros((1, LANES)),
        )  # fmt: skip
        self.rule = Rule(
            OPTIMISERS[optimiser], etas.reshape(1, LANES).astype(dtype), np.full((1, LANES), alpha, dtype),
            1.0 if readout_bias else 0.0, False, corrections(BETA_1, dtype), corrections(BETA_2, dtype),
        )  # fmt: skip
        self.method = kind(Setting(architecture, self.net, self.listed, drawn, seeds, number, meta, dtype))

    def run(self, given: Given, begin: int) -> None:
        self.now.errors[:], self.now.counts[:] = 0.0, 0.0
        if self.now.alive.any():
            self.method.run(self.rule, self.now, given, begin)

    def sums(self) -> tuple[Array, Array]:
        return self.now.errors[0].copy(), self.now.counts[0].copy()

    def kept(self) -> dict[str, Array]:
        """Arrays of the state, by name."""
        kept = {name: value for name, value in self.now._asdict().items() if name not in ("errors", "counts")}
        return kept | self.method.memory
