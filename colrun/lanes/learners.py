"""Which kernel runs which estimator, and what memory it needs."""

import re
from typing import Any

import numpy as np

from colrun.errors import InvalidValueError, choose, shown
from colrun.lanes import exact, groups, influence, kronecker, rank_one, reach, window
from colrun.lanes.method import Given, Method, Setting, new_steps, zeros
from colrun.lanes.vectors import LANES
from colrun.networks.draw import initial_w
from colrun.streams import Array, stream

LEARNERS = {
    "rtrl": False, "tbptt": True, "tbptt-replay": True, "tbptt-block": True, "master-user": False, "elman": False,
    "rflo": False, "rflo-symmetric": False, "snap": True, "uoro": False, "nobacktrack": False, "kf-rtrl": False,
    "master-user-groups": False, "frozen": False,
}  # fmt: skip
"""By name, whether the name takes a number."""

BETWEEN, MANY = 8, 0.6
"""rtrl brings M up to date every so many steps, if weights reach at least this share of the states."""


def parse_learner(name: str) -> tuple[str, int]:
    """`tbptt-40` is `tbptt`, 40; 0 where there is no number."""
    found = re.fullmatch(r"(.+?)-([0-9]{1,9})", name, re.ASCII)
    family, number = (found[1], int(found[2])) if found and LEARNERS.get(found[1]) else (name, 0)
    choose(family, LEARNERS, "learner")
    if LEARNERS[family] and number < 1:
        raise InvalidValueError(f"learner {shown(name)} needs a number of 1 or more after its name: {family}-20.")
    return family, number


class Influence(Method):
    """rtrl, snap, master-user, rflo."""

    def prepare(self, of: Setting) -> None:
        pass

    def follow(self, tracked: influence.Tracked) -> None:
        net = self.net
        self.tracked = tracked
        self.steps = new_steps(net, 1, self.dtype)
        self.memory["M"] = zeros(self.dtype, int(tracked.memory[-1]))
        most = int(np.diff(tracked.start).max())
        sizes = net.source.size, 1, 1, 2, net.Q, most, most, 2 * most, most**2
        self.work = tuple(zeros(self.dtype, size) for size in sizes)

    def feedback(self, now: Any) -> Array:
        found: Array = now.w
        return found

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        influence.run(
            self.net, rule, now, self.steps, self.tracked, self.memory["M"], self.feedback(now), self.work,
            *given.stream, begin,
        )  # fmt: skip


class SnAp(Influence):
    def prepare(self, of: Setting) -> None:
        sets = reach.reached_sets(of.architecture, self.net, of.drawn, of.number)
        self.follow(reach.track(self.net, sets, sets, of.number > 1, self.dtype, False))


class MasterUser(Influence):
    own_links = own_features = True
    leak = False

    def prepare(self, of: Setting) -> None:  # noqa: ARG002
        self.follow(reach.track(self.net, reach.own_sets(self.net), None, False, self.dtype, self.leak))


class RFLO(MasterUser):
    leak, through_lms = True, False

    def prepare(self, of: Setting) -> None:
        super().prepare(of)
        self.random = np.stack([initial_w(seed, self.net.C, "rflo.feedback") for seed in of.seeds], 1).astype(
            self.dtype
        )

    def feedback(self, now: Any) -> Array:  # noqa: ARG002
        return self.random


class SymmetricRFLO(MasterUser):
    leak, through_lms = True, False


class Window(Method):
    """tbptt; elman is its window of 1."""

    def prepare(self, of: Setting) -> None:
        net = self.net
        self.slots = max(of.number, 1)
        self.steps = new_steps(net, self.slots, self.dtype)
        sizes = net.source.size, 1, 1, 2, net.Q, net.Q, self.slots * (net.start.size - 1)
        self.work = tuple(zeros(self.dtype, size) for size in sizes)
        self.memory |= {name: getattr(self.steps, name) for name in ("u", "by_a", "by_r", "D1", "D2", "J")}

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        window.run_sliding(self.net, rule, now, self.steps, self.slots, self.work, *given.stream, begin)


class RTRL(Window):
    """By M alone where weights reach few states, by M and a window where they reach many."""

    def prepare(self, of: Setting) -> None:
        net = self.net
        sets = reach.reached_sets(of.architecture, net, of.drawn, net.C).any(2, keepdims=True)
        sets = np.repeat(sets, LANES, axis=2)  # what a lane does not reach stays 0 by itself
        tracked = reach.track(net, sets, None, True, self.dtype, False)
        self.by_influence: Influence | None = None
        if of.number == 0 and np.diff(tracked.start).mean() < MANY * net.Q:
            self.by_influence = Influence(of)
            self.by_influence.follow(tracked)
            self.memory, self.work = self.by_influence.memory, self.by_influence.work
            return
        super().prepare(of._replace(number=BETWEEN))
        self.memory["M"] = zeros(self.dtype, net.source.size * net.Q)
        sizes = (self.slots + 1) * net.Q**2, self.slots * net.Q, 2 * net.Q
        self.folding = tuple(zeros(self.dtype, size) for size in sizes)

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        if self.by_influence is not None:
            self.by_influence.run(rule, now, given, begin)
            return
        exact.run(
            self.net, rule, now, self.steps, self.slots, self.work, self.memory["M"], self.folding, *given.stream, begin
        )


class Blocks(Window):
    def prepare(self, of: Setting) -> None:
        super().prepare(of)
        self.memory["losses"] = zeros(self.dtype, self.slots * self.net.Q + 1)

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        window.run_blocks(
            self.net, rule, now, self.steps, self.slots, self.work, self.memory["losses"], *given.stream, begin
        )


class Replay(Window):
    def prepare(self, of: Setting) -> None:
        super().prepare(of)
        net = self.net
        sizes = {"s": net.P, "w": net.C + 1, "x": net.inputs, "y": 1, "counted": 1}
        self.memory = {f"past_{name}": zeros(self.dtype, self.slots * size) for name, size in sizes.items()}
        self.again = [zeros(self.dtype, size) for size in (net.P, net.C + 1, (net.C + 1) * net.Q)]

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        s, w, lms = self.again
        again = now._replace(s=s, w=w, lms=lms if self.net.Q > self.net.P else now.lms)
        window.run_replay(
            self.net, rule, now, again, self.steps, self.slots, self.work, tuple(self.memory.values()), *given.stream,
            begin,
        )  # fmt: skip


class RankOne(Method):
    """uoro, and with a scale for each state nobacktrack."""

    each = False

    def prepare(self, of: Setting) -> None:  # noqa: ARG002
        net, rows = self.net, self.net.start.size - 1
        self.steps = new_steps(net, 1, self.dtype)
        self.memory = {"tangent": zeros(self.dtype, net.Q), "theta_tilde": zeros(self.dtype, net.source.size)}
        sizes = net.source.size, 1, 1, 2, net.Q, net.Q, net.P, net.P, net.P, rows, rows, rows
        self.work = tuple(zeros(self.dtype, size) for size in sizes)

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        rank_one.run(
            self.net, rule, now, self.steps, self.each, *self.memory.values(), self.work, given.noise, *given.stream,
            begin,
        )  # fmt: skip

    @property
    def noise(self) -> int:
        return self.net.P


class NoBackTrack(RankOne):
    each = True


class KFRTRL(Method):
    joined = False  # V and R are matrices of their own

    def prepare(self, of: Setting) -> None:
        net, units, gates = self.net, self.net.C * self.net.W, self.net.G * self.net.C
        last = 2 * units + gates * (2 if of.architecture.recurrent else 1)
        self.first_row = np.concatenate([np.arange(0, 2 * units, max(net.W, 1)), np.arange(2 * units, last + 1)])
        inputs = net.start[self.first_row[:-1] + 1] - net.start[self.first_row[:-1]]
        self.u_start = np.concatenate([[0], np.cumsum(inputs)])
        self.steps = new_steps(net, 1, self.dtype)
        self.memory = {"u": zeros(self.dtype, int(self.u_start[-1])), "A": zeros(self.dtype, last * net.Q)}
        most = max(net.W, 1) * net.Q
        sizes = net.source.size, 1, 1, 2, net.Q, most, most
        self.work = tuple(zeros(self.dtype, size) for size in sizes)

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        kronecker.run(
            self.net, rule, now, self.steps, self.first_row, self.u_start, *self.memory.values(), self.work,
            given.noise, *given.stream, begin,
        )  # fmt: skip

    @property
    def noise(self) -> int:
        return self.first_row.size - 1


class Groups(Method):
    through_lms = False

    def prepare(self, of: Setting) -> None:
        net = self.net
        owners = [
            {name: stream(seed, f"groups.{name}").integers(0, net.C, value.shape) for name, value in each.theta.items()}
            for seed, each in zip(of.seeds, of.drawn, strict=True)
        ]
        self.owner = self.listed.pick(owners)
        self.steps = new_steps(net, 1, self.dtype)
        weights = net.source.size
        self.memory = {"e": zeros(self.dtype, weights * net.S), "TW": zeros(self.dtype, weights)}
        self.work = tuple(zeros(self.dtype, size) for size in (weights, 1, 1, 2, net.Q))

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        groups.run(
            self.net, rule, now, self.steps, self.owner, *self.memory.values(), self.meta, self.work, *given.stream,
            begin,
        )  # fmt: skip


class Frozen(Method):
    """w alone learns."""

    own_links = own_features = True
    through_lms = False

    def prepare(self, of: Setting) -> None:  # noqa: ARG002
        self.steps = new_steps(self.net, 1, self.dtype)
        self.work = tuple(zeros(self.dtype, 1) for _ in range(2))

    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        window.run_frozen(self.net, rule, now, self.steps, self.work, *given.stream, begin)


METHODS: dict[str, type[Method]] = {
    "rtrl": RTRL, "snap": SnAp, "master-user": MasterUser, "rflo": RFLO, "rflo-symmetric": SymmetricRFLO,
    "tbptt": Window, "elman": Window, "tbptt-block": Blocks, "tbptt-replay": Replay, "frozen": Frozen,
    "uoro": RankOne, "nobacktrack": NoBackTrack, "kf-rtrl": KFRTRL, "master-user-groups": Groups,
}  # fmt: skip
