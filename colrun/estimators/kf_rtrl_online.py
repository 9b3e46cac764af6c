"""The online form of KF-RTRL: see kf_rtrl.py."""

from typing import NamedTuple

import torch
from torch import Tensor

from colrun.estimators.base import predict
from colrun.estimators.on_lists import OnLists
from colrun.estimators.stochastic import Signs, balance
from colrun.networks.columnar import ColumnarNetwork, Layered
from colrun.networks.links import Links


class Pair(NamedTuple):
    """u and A (Q, K, rows) of K matrices of one shape.

    u is (K, columns); where matrices are single rows of listed weights it is one list, and `matrix` tells whose each
    is.
    """

    u: Tensor
    A: Tensor
    matrix: Tensor | None = None

    def norms(self, u: Tensor) -> Tensor:
        """Of each matrix' part of u, (K,)."""
        if self.matrix is None:
            return u.square().sum(1).sqrt()
        return u.new_zeros(self.A.shape[1]).index_add_(0, self.matrix, u.square()).sqrt()

    def scaled(self, scale: Tensor, u: Tensor) -> Tensor:
        """Each matrix' part of u times its own number."""
        return scale.unsqueeze(1) * u if self.matrix is None else scale[self.matrix] * u

    def take_in(self, seen: Tensor, D: Tensor, J: Tensor, sign: Tensor) -> "Pair":
        """One step; D is (P, K, rows), and rows of A beyond P, those of w, have moved already."""
        P = D.shape[0]
        moved = torch.cat([torch.tensordot(J, self.A[:P], dims=1), self.A[P:]])
        p1, p1_inverse = balance(moved.square().sum((0, 2)).sqrt(), self.norms(self.u))
        p2, p2_inverse = balance(D.square().sum((0, 2)).sqrt(), self.norms(seen))
        A = p1_inverse[:, None] * moved
        A[:P] += (sign * p2_inverse)[:, None] * D
        return Pair(self.scaled(p1, self.u) + self.scaled(sign * p2, seen), A, self.matrix)


class OnlineKFRTRL(OnLists):
    """Pairs of every kind; derivatives by pre-activations in closed form, along links that exist."""

    def __init__(self, network: ColumnarNetwork, step_size: float | None, signs: Signs) -> None:
        super().__init__(network, step_size)
        self.signs, self.links = signs, Links(self.listed)
        C, W, K = network.columns, network.architecture.width, len(network.gates) * network.columns
        Q = self.s.numel() + (0 if step_size is None else C)
        new = self.w.new_zeros
        self.pairs = [Pair(new(C, self.theta["A"].shape[-1] + 1), new(Q, C, W)), Pair(new(C, W + 1), new(Q, C, W))]
        self.names = [[name for name in self.theta if name[0] in kinds] for kinds in ("Uq", "R")]
        """Of the weights in each list."""
        for names in self.names[: 1 + network.architecture.recurrent]:
            matrix = torch.cat([self._row(name).expand(self.theta[name].shape).flatten() for name in names])
            self.pairs.append(Pair(new(len(matrix)), new(Q, K, 1), matrix))

    def _row(self, name: str) -> Tensor:
        """The row of all gates that each weight is in."""
        return self.listed.gates.index(name.split(".")[1]) * self.listed.columns + self.listed.owner[name]

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Forward, the pairs, the gradient, then LMS and its tangent."""
        s_tm1 = self.s
        at = self.listed.layers(self.listed.theta, x_t, s_tm1)
        P, C = at.s.numel(), self.listed.columns
        J, D = self._derivatives(at, s_tm1)
        self.s = at.s
        h_t, w_t = self.s[0], self.w
        _, delta, self.w = predict(w_t, h_t, y_t, self.step_size)
        sizes = [pair.A.shape[1] for pair in self.pairs]
        signs = torch.split(self.signs.take(sum(sizes)).to(h_t.dtype), sizes)
        credits = []
        for n, (pair, seen, local, sign) in enumerate(zip(self.pairs, self._inputs(at, s_tm1), D, signs, strict=False)):
            u, A, matrix = pair.take_in(seen, local, J, sign)
            A_h, A_w = A[:C], A[P:]
            delta_A = -torch.einsum("c,ckn->kn", w_t, A_h)
            if self.step_size is not None:
                delta_A = delta_A - torch.einsum("c,ckn->kn", h_t, A_w)
                A_w = A_w + self.step_size * (h_t[:, None, None] * delta_A + delta * A_h)
                A = torch.cat([A[:P], A_w])
            credits.append(delta * delta_A)
            self.pairs[n] = Pair(u, A, matrix)
        self._add(credits)

    def _derivatives(self, at: Layered, s_tm1: Tensor) -> tuple[Tensor, list[Tensor]]:
        """J (P, P), and D (P, K, rows) of each kind of matrix."""
        links, (S, C), W = self.links, at.s.shape, at.f.shape[-1]
        partials = links.partials(at, s_tm1)
        J = at.s.new_zeros(S, C, S, C)
        J[:, links.to, :, links.source] = links.by_states(at, partials)[:-1]
        to, source = links.to[: links.of_features], links.source[: links.of_features]
        second = links.by_features(at, partials) * (at.f > 0)[source].unsqueeze(1)
        first = (second @ self.listed.theta["B"][source]) * (at.z > 0)[source].unsqueeze(1)
        D = [at.s.new_zeros(S, C, C, W) for _ in range(2)]
        for whole, part in zip(D, (first, second), strict=True):
            whole[:, to, source] = part.transpose(0, 1)
        D += [torch.diag_embed(partial).transpose(1, 2) for partial in partials[:2]]  # (S, C, G, C)
        return J.reshape(S * C, S * C), [
            each.reshape(S * C, *pair.A.shape[1:]) for each, pair in zip(D, self.pairs, strict=False)
        ]

    def _inputs(self, at: Layered, s_tm1: Tensor) -> list[Tensor]:
        """What the weights of each kind multiply, as u."""
        one, places = at.f.new_ones(at.f.shape[0], 1), self.listed.places
        fed = {"U": at.f.flatten(), "q": one.squeeze(1), "R": s_tm1[0]}
        lists = [
            torch.cat([fed[name[0]][places[name].source] if name in places else fed[name[0]] for name in names])
            for names in self.names[: len(self.pairs) - 2]
        ]
        return [torch.cat([at.seen, one], dim=1), torch.cat([at.z, one], dim=1), *lists]

    def _add(self, credits: list[Tensor]) -> None:
        """credit ⊗ u of each kind of matrix, into the total."""
        for weight, bias, credit, pair in zip("AB", "bc", credits, self.pairs, strict=False):
            self.total[weight] += credit.unsqueeze(-1) * pair.u[:, None, :-1]
            self.total[bias] += credit * pair.u[:, -1:]
        for names, credit, pair in zip(self.names, credits[2:], self.pairs[2:], strict=False):
            parts = torch.split(pair.scaled(credit.squeeze(1), pair.u), [self.theta[name].numel() for name in names])
            for name, part in zip(names, parts, strict=True):
                self.total[name] += part.reshape(self.total[name].shape)
