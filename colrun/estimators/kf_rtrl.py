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

Cost: |h|² (C W + gates) operations and |h| (C W + gates) memory per step, that being the rows of all matrices: cubic in
|h| in the paper's network. Whatever else there is, u and D along existing links, is O(|θ|) where laterals are few.
Reference: Mujika, Meier and Steger 2018.
"""

from collections.abc import Sequence as Several
from typing import Protocol

import torch
from torch import Tensor

from colrun.estimators.kf_rtrl_online import OnlineKFRTRL
from colrun.estimators.stochastic import Credit, Stochastic, balance, learner_jacobian, learner_loss
from colrun.estimators.theory import Power
from colrun.kernels import kronecker
from colrun.networks.contraction import PreactivationCredit
from colrun.networks.trajectory import Trajectory

AT_ONCE = 1_000_000
"""Numbers of D that are held at once."""


class KFRTRL(Stochastic):
    """All draws at once, a few columns at a time."""

    name = "kf-rtrl"
    needs_columns = True
    takes_lists = True
    operations = Power(states=2, activations=1)
    memory = Power(states=1, activations=1)

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


ONLINE = {"kf-rtrl": OnlineKFRTRL}
ESTIMATORS = {"kf-rtrl": KFRTRL()}
