"""Kronecker-factored RTRL: the Jacobian of the state by every weight matrix as one random Kronecker product.

A weight matrix M with input i(t) and pre-activation M i(t) has ∂s(t)/∂M = D(t) ⊗ i(t), D: derivative by the
pre-activation, so that ∂s/∂M ≈ A ⊗ u can be carried forward, A: P x (rows of M), u: (columns of M):

    u(t) = p1 u(t-1) + c p2 i(t)                    c: a fair sign, one per matrix and step
    A(t) = J(t) A(t-1)/p1 + c D(t)/p2
    p1   = √(‖J(t) A(t-1)‖ / ‖u(t-1)‖)        p2 = √(‖D(t)‖ / ‖i(t)‖)
    ĝ(t) = (∂L(t)/∂s(t) · A(t)) ⊗ u(t)

The paper has one matrix, or several with one input and a diagonal D. In a columnar network the matrices are, each with
a pair (u, A) and signs of its own: of every column A_i with b_i (input [x; h_i; 1]) and B_i with c_i (input [z_i; 1]),
and of every gate and column the row U_i with q_i (input [f; 1]) and the row R_i (input h(t-1)), over the weights that
exist. Rows of a gate differ in their masks, hence in their inputs, so no two of them share a u. D is not diagonal, as a
layer's units reach several states; nothing in the proof that it is unbiased needs that. The paper draws two signs, of
which only the product matters. Where w learns the state is (s, w), A: (P + C) x rows: see stochastic.py.

    credit     of pre-activations: c̃(t) = c(t) p2(t) χ(t),   χ(t) = ∂L(t)/∂s(t) · A(t) + p1(t+1) χ(t+1)

Cost: |h|² (C W + gates) operations and |h| (C W + gates) memory per step: cubic in |h| in the paper's network.
Reference: Mujika, Meier and Steger 2018.
"""

from collections.abc import Sequence as Several
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from colrun.estimators.base import Online, predict
from colrun.estimators.stochastic import Credit, Signs, Stochastic, balance, learner_jacobian, learner_loss
from colrun.kernels import kronecker
from colrun.networks.base import Network
from colrun.networks.columnar import ColumnarNetwork, Layered
from colrun.networks.contraction import PreactivationCredit
from colrun.networks.trajectory import Trajectory

AT_ONCE = 1_000_000
"""Numbers of D that are held at once."""


class Pair(NamedTuple):
    """u (K, columns) and A (Q, K, rows) of K matrices of one shape."""

    u: Tensor
    A: Tensor


class OnlineKFRTRL(Online):
    """Pairs of every kind. ∂s/∂(pre-activations) takes one backward pass per number of state; none reaches θ."""

    def __init__(self, network: ColumnarNetwork, step_size: float | None, signs: Signs) -> None:
        super().__init__(network, step_size)
        self.columnar, self.signs = network, signs
        C, W, K = network.columns, network.architecture.width, len(network.gates) * network.columns
        Q = self.s.numel() + (0 if step_size is None else C)
        new = self.w.new_zeros
        self.pairs = [
            Pair(new(C, network.theta["A"].shape[-1] + 1), new(Q, C, W)),
            Pair(new(C, W + 1), new(Q, C, W)),
            Pair(new(K, C * W + 1), new(Q, K, 1)),
        ]
        if network.architecture.recurrent:
            self.pairs.append(Pair(new(K, C), new(Q, K, 1)))

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Forward, the pairs, the gradient, then LMS and its tangent."""
        s_tm1 = self.s.detach().requires_grad_()
        at = self.columnar.layers(self.theta, x_t, s_tm1)
        wanted = [at.first, at.second, at.a, at.r][: len(self.pairs)]
        P, C = at.s.numel(), self.columnar.columns
        rows = torch.eye(P, dtype=at.s.dtype).reshape(P, *at.s.shape)
        grads = torch.autograd.grad(at.s, [*wanted, s_tm1], rows, is_grads_batched=True, allow_unused=True)
        *D, J = (v.new_zeros(P, *v.shape) if g is None else g for v, g in zip([*wanted, s_tm1], grads, strict=True))
        self.s = at.s.detach()
        h_t, w_t = self.s[0], self.w
        _, delta, self.w = predict(w_t, h_t, y_t, self.step_size)
        sizes = [pair.u.shape[0] for pair in self.pairs]
        signs = torch.split(self.signs.take(sum(sizes)).to(h_t.dtype), sizes)
        credits = []
        for n, (pair, seen, local, sign) in enumerate(zip(self.pairs, self._inputs(at, s_tm1), D, signs, strict=True)):
            u, A = take_in(pair, seen.detach(), local.reshape(P, *pair.A.shape[1:]), J.reshape(P, P), sign)
            A_h, A_w = A[:C], A[P:]
            credits.append(-delta * torch.einsum("c,ckn->kn", w_t, A_h))
            if self.step_size is not None:
                credits[n] -= delta * torch.einsum("c,ckn->kn", h_t, A_w)
                delta_A = -torch.einsum("c,ckn->kn", w_t, A_h) - torch.einsum("c,ckn->kn", h_t, A_w)
                A_w = A_w + self.step_size * (h_t[:, None, None] * delta_A + delta * A_h)
            self.pairs[n] = Pair(u, torch.cat([A[:P], A_w]))
        self._add(
            [torch.einsum("kn,km->knm", credit, pair.u) for credit, pair in zip(credits, self.pairs, strict=True)]
        )

    def _inputs(self, at: Layered, s_tm1: Tensor) -> list[Tensor]:
        """What each matrix multiplies, (K, columns); 0 where the weight does not exist."""
        one = at.f.new_ones(at.f.shape[0], 1)
        bias = self.pairs[2].u.new_full((self.pairs[2].u.shape[0], 1), self.columnar.architecture.switches.state_bias)
        U = torch.cat([self._exists("U") * at.f.flatten(), bias], dim=1)
        found = [torch.cat([at.seen, one], dim=1), torch.cat([at.z, one], dim=1), U]
        return [*found, self._exists("R") * s_tm1[0]] if len(self.pairs) > 3 else found

    def _exists(self, kind: str) -> Tensor:
        """Masks of all gates, (G·C, columns)."""
        return torch.cat([self.columnar.masks[f"{kind}.{gate}"].flatten(1) for gate in self.columnar.gates])

    def _add(self, found: list[Tensor]) -> None:
        """Gradients (K, rows, columns) of each kind of matrix, into the total."""
        C, W = self.columnar.columns, self.columnar.architecture.width
        for name, gradient in zip(("A", "B"), found, strict=False):
            self.total[name] += gradient[..., :-1]
            self.total[{"A": "b", "B": "c"}[name]] += gradient[..., -1]
        for g, gate in enumerate(self.columnar.gates):
            rows = slice(g * C, (g + 1) * C)
            self.total[f"U.{gate}"] += found[2][rows, 0, :-1].reshape(C, C, W)
            if f"q.{gate}" in self.total:
                self.total[f"q.{gate}"] += found[2][rows, 0, -1]
            if len(found) > 3:
                self.total[f"R.{gate}"] += found[3][rows, 0]


def take_in(pair: Pair, seen: Tensor, D: Tensor, J: Tensor, sign: Tensor) -> Pair:
    """One step of K pairs; D is (P, K, rows), and rows of A beyond P, those of w, have moved already."""
    P = D.shape[0]
    moved = torch.cat([torch.tensordot(J, pair.A[:P], dims=1), pair.A[P:]])
    p1, p1_inverse = balance(moved.square().sum((0, 2)).sqrt(), pair.u.square().sum(1).sqrt())
    p2, p2_inverse = balance(D.square().sum((0, 2)).sqrt(), seen.square().sum(1).sqrt())
    A = p1_inverse[:, None] * moved
    A[:P] += (sign * p2_inverse)[:, None] * D
    return Pair(p1[:, None] * pair.u + (sign * p2)[:, None] * seen, A)


class KFRTRL(Stochastic):
    """All draws at once, a few columns at a time."""

    name = "kf-rtrl"
    needs_columns = True

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """A pair for every matrix."""
        assert isinstance(network, ColumnarNetwork)
        return OnlineKFRTRL(network, step_size, Signs(network.seed, self.name, self.draw))

    def drawn(self, trajectory: Trajectory, draws: Several[int]) -> list[Credit]:
        """In pure torch."""
        return self._drawn(trajectory, draws, follow)

    def compiled_drawn(self, trajectory: Trajectory, draws: Several[int]) -> list[Credit]:
        """By a kernel."""
        return self._drawn(trajectory, draws, compiled_follow)

    def _drawn(self, trajectory: Trajectory, draws: Several[int], follow: "Follow") -> list[Credit]:
        """First and second layers by column, then the rows of gates."""
        recurrent, grams = trajectory.batch.architecture.recurrent, trajectory.grams
        by_a, by_r, _ = trajectory.partials
        N, T, _, G, C = by_a.shape
        W = trajectory.f.shape[-1]
        sizes = [C, C, G * C, G * C][: 4 if recurrent else 3]
        signs = self.signs(trajectory, draws, sum(sizes)).permute(0, 3, 1, 2)  # (N, K, draws, T)
        first_signs, second_signs, a_signs, *r_signs = torch.split(signs, sizes, dim=1)
        course = learner_jacobian(trajectory), learner_loss(trajectory)
        second, first = (by_a.new_empty(N, C, len(draws), T, W) for _ in range(2))
        size = max(1, AT_ONCE // (N * trajectory.s[0, 0].numel() * T * W))
        for begin in range(0, C, size):
            here = slice(begin, min(begin + size, C))
            by_second, by_first = by_layers(trajectory, here)
            second[:, here] = follow(*course, by_second, grams.second[:, here], second_signs[:, here])
            first[:, here] = follow(*course, by_first, grams.first[:, here], first_signs[:, here])
        a = follow(*course, by_rows(by_a), grams.a, a_signs)
        r = follow(*course, by_rows(by_r), grams.r, r_signs[0]) if recurrent else torch.zeros_like(a)
        rows = [value.permute(2, 0, 3, 1, 4).reshape(-1, N, T, G, C) for value in (a, r)]
        layers = [layer.permute(2, 0, 3, 1, 4) for layer in (second, first)]
        return [PreactivationCredit(*parts) for parts in zip(*rows, *layers, strict=True)]


def by_layers(trajectory: Trajectory, columns: slice) -> tuple[Tensor, Tensor]:
    """D of the second and the first layer of some columns, (N, columns, T, P, W)."""
    batch = trajectory.batch
    reach = torch.einsum("ntsgi,ngijw->njtsiw", trajectory.partials.by_a, batch.U[:, :, :, columns])
    f, z = (value[:, :, columns].transpose(1, 2).unsqueeze(3) for value in (trajectory.f, trajectory.z))
    second = reach.flatten(3, 4) * (f > 0)
    return second, (second.flatten(2, 3) @ batch.layers.B[:, columns]).view_as(second) * (z > 0)


def by_rows(partial: Tensor) -> Tensor:
    """D of the rows of gates, (N, G·C, T, P, 1), from ∂s/∂a or ∂s/∂r, (N, T, S, G, C)."""
    whole = torch.diag_embed(partial).permute(0, 3, 5, 1, 2, 4)  # (N, G, C, T, S, C)
    return whole.flatten(4).flatten(1, 2).unsqueeze(-1)


class Follow(Protocol):
    """The recursion of K matrices of one shape over all steps, in torch or compiled."""

    def __call__(self, jacobian: Tensor, on_loss: Tensor, D: Tensor, gram: Tensor, signs: Tensor) -> Tensor:
        """c̃ (N, K, draws, T, rows) from 𝒥, ∂L/∂τ, D (N, K, T, P, rows), inputs' inner products (N, K, T, T), signs."""


def weights(D: Tensor, gram: Tensor, signs: Tensor) -> tuple[Tensor, Tensor]:
    """c p2 and c/p2, (N, K, draws, T)."""
    inputs = gram.diagonal(dim1=-2, dim2=-1).sqrt()
    p2, inverse = balance(D.square().sum((3, 4)).sqrt(), inputs)
    return signs * p2.unsqueeze(2), signs * inverse.unsqueeze(2)


def follow(jacobian: Tensor, on_loss: Tensor, D: Tensor, gram: Tensor, signs: Tensor) -> Tensor:
    """In torch; A is (N, Q, K, draws, rows)."""
    N, K, T, P, rows = D.shape
    draws = signs.shape[2]
    weight, inverse = weights(D, gram, signs)
    A = D.new_zeros(N, on_loss.shape[-1], K, draws, rows)
    shares, decay = torch.zeros_like(weight), torch.zeros_like(weight)  # of the inputs in u; p1
    square = torch.zeros_like(weight[..., 0])  # ‖u‖²
    gain = D.new_zeros(N, K, draws, T, rows)
    for t in range(T):
        moved = (jacobian[:, t] @ A.flatten(2)).view_as(A)
        p1, p1_inverse = balance(moved.square().sum((1, 4)).sqrt(), square.sqrt())
        A = moved * p1_inverse[:, None, :, :, None]
        A[:, :P] += inverse[:, None, :, :, t, None] * D[:, :, t].transpose(1, 2).unsqueeze(3)
        shares[..., :t] *= p1.unsqueeze(-1)
        cross = (shares[..., :t] * gram[:, :, None, t, :t]).sum(-1)
        c = weight[..., t]
        square = (p1**2 * square + c * (2 * cross + c * gram[:, :, None, t, t])).clamp(min=0.0)
        shares[..., t], decay[..., t] = c, p1
        gain[..., t, :] = (on_loss[:, None, t] @ A.flatten(2)).view(N, K, draws, rows)
    for t in reversed(range(T - 1)):
        gain[..., t, :] += decay[..., t + 1, None] * gain[..., t + 1, :]
    return gain * weight.unsqueeze(-1)


def compiled_follow(jacobian: Tensor, on_loss: Tensor, D: Tensor, gram: Tensor, signs: Tensor) -> Tensor:
    """The same by a kernel."""
    weight, inverse = weights(D, gram, signs)
    out = D.new_empty(*weight.shape, D.shape[-1])
    given = (jacobian, on_loss, D, gram, weight, inverse, out)
    kronecker.follow(*(tensor.contiguous().numpy() for tensor in given))
    return out


ESTIMATORS = {"kf-rtrl": KFRTRL()}
