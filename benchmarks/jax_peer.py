"""The same experiment as somebody writes it in JAX who knows the credit form: what the engine is measured against.

Additive cell, reading `text`, fixed w: Master-User and T-BPTT against the exact gradient. Everything is one compiled
program in float32: drawing, forward run, Jacobians, the credits of all estimators from one pass back, gradients as
products with columns as their batch and all estimators side by side (other layouts took up to twice as long), and
sums. Networks come one after the other (`lax.map`): stacked by `vmap` each takes longer. Lateral weights are whole
matrices with zeros, as XLA has no use for lists of them.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

SHARED = 0.25
"""A window of this share of the steps or more is taken as its difference to the truth, over the other steps."""


class Weights(NamedTuple):
    """Of one network, with what it is shown."""

    A_x: Array
    """(C, W, inputs)"""
    A_h: Array
    """(C, W)"""
    B: Array
    """(C, W, W)"""
    U: Array
    """(C to, C from, W), zero where masked"""
    R: Array
    """(C, C), zero where masked"""
    U_exists: Array
    R_exists: Array
    w: Array
    """(C,)"""
    x: Array
    """(T, inputs)"""
    y: Array
    """(T,)"""


def draw(key: Array, C: int, W: int, T: int, inputs: int, survival: float) -> Weights:
    """Xavier weights, masks and data."""
    keys = jax.random.split(key, 10)
    layer, square, row = ((6 / fans) ** 0.5 for fans in (inputs + 1 + W, 2 * W, C * W + C + 1))

    def uniform(n: int, bound: float, *shape: int) -> Array:
        return jax.random.uniform(keys[n], shape, jnp.float32, -bound, bound)

    own = jnp.eye(C, dtype=bool)
    U_exists = (jax.random.uniform(keys[0], (C, C, W)) < survival) | own[:, :, None]
    R_exists = (jax.random.uniform(keys[1], (C, C)) < survival) | own
    return Weights(
        uniform(2, layer, C, W, inputs), uniform(3, layer, C, W), uniform(4, square, C, W, W),
        uniform(5, row, C, C, W) * U_exists, uniform(6, row, C, C) * R_exists, U_exists, R_exists,
        0.1 * jax.random.normal(keys[7], (C,)), jax.random.bernoulli(keys[8], 0.5, (T, inputs)).astype(jnp.float32),
        uniform(9, 50.0, T),
    )  # fmt: skip


class Forward(NamedTuple):
    z: Array
    """(C, T, W)"""
    f: Array
    h: Array
    """(T, C)"""
    h_tm1: Array
    slope: Array
    """(T, C): ∂h/∂a"""


def forward(net: Weights) -> Forward:
    """Step by step."""
    pre = jnp.einsum("cwi,ti->tcw", net.A_x, net.x)

    def step(h: Array, pre_t: Array) -> tuple[Array, tuple[Array, ...]]:
        z = jax.nn.relu(pre_t + net.A_h * h[:, None])
        f = jax.nn.relu(jnp.einsum("cvw,cw->cv", net.B, z))
        new = jnp.tanh(net.U.reshape(len(h), -1) @ f.reshape(-1) + net.R @ h)
        return h + new, (z, f, h + new, h, 1 - new**2)

    z, f, h, h_tm1, slope = lax.scan(step, jnp.zeros_like(net.w), pre)[1]
    return Forward(z.swapaxes(0, 1), f.swapaxes(0, 1), h, h_tm1, slope)


def jacobian(net: Weights, at: Forward) -> Array:
    """(T, C, C): ∂h(t)/∂h(t-1)."""
    tangent = jnp.einsum("ctw,cvw->ctv", (at.z > 0) * net.A_h[:, None], net.B) * (at.f > 0)
    through = jnp.einsum("jtv,ijv->tij", tangent, net.U)
    return jnp.eye(len(net.w)) + at.slope[:, :, None] * (net.R + through)


def credits(net: Weights, at: Forward, windows: Sequence[int]) -> Array:
    """(T, 2 + windows, C): of the truth, of Master-User and of every window, all in one pass.

    Entry ℓ of what is carried is the credit of a window of ℓ+1 steps, the last the truth's.
    """
    J = jacobian(net, at)
    own = (at.h @ net.w - net.y)[:, None] * net.w
    later = jnp.concatenate([J[1:], jnp.zeros_like(J[:1])])
    d = jnp.diagonal(later, axis1=1, axis2=2)
    places = jnp.array([k - 1 for k in windows])

    def back(carried: tuple[Array, Array], given: tuple[Array, Array, Array]) -> tuple[tuple[Array, Array], Array]:
        several, one = carried
        J_next, d_next, e = given
        moved = several @ J_next
        several = e + jnp.concatenate([jnp.zeros_like(moved[:1]), moved[:-2], moved[-1:]])
        one = e + d_next * one
        return (several, one), jnp.concatenate([several[-1:], one[None], several[places]])

    start = jnp.zeros((max(windows) + 1, len(net.w))), jnp.zeros_like(net.w)
    return lax.scan(back, start, (later, d, own), reverse=True)[1]


class Gradients(NamedTuple):
    """Of E credits, column first: (C, E, numbers) each."""

    first: Array
    second: Array
    U: Array
    """By source column, zero where masked."""
    R: Array


def gradients(net: Weights, at: Forward, credit: Array, alone: int = 0) -> Gradients:
    """From credits of states (T, E, C) over the first T steps; of the last `alone` of them features of a column are
    credited for its own state only."""
    T, E, C = credit.shape
    z, f, x, h_tm1 = at.z[:, :T], at.f[:, :T], net.x[:T], at.h_tm1[:T]
    W = z.shape[2]
    a = credit * at.slope[:T, None]
    U = net.U.swapaxes(0, 1)
    crossing = jnp.broadcast_to(a[:, : E - alone].reshape(-1, C), (C, T * (E - alone), C)) @ U
    features = crossing.reshape(C, T, E - alone, W)
    if alone:
        own = jnp.diagonal(net.U, axis1=0, axis2=1).T
        features = jnp.concatenate([features, a[:, E - alone :].transpose(2, 0, 1)[..., None] * own[:, None, None]], 2)
    second = features * (f > 0)[:, :, None]
    first = (second.reshape(C, T * E, W) @ net.B).reshape(C, T, E, W) * (z > 0)[:, :, None]
    ones = jnp.ones((C, T, 1))
    seen = jnp.concatenate([jnp.broadcast_to(x, (C, *x.shape)), h_tm1.T[..., None], ones], axis=2)

    def product(left: Array, right: Array) -> Array:
        return jnp.einsum("ctk,ctw->ckw", left.reshape(C, T, -1), right).reshape(C, E, -1)

    of_gates = jnp.broadcast_to(a.reshape(T, E * C), (C, T, E * C))
    exists = net.U_exists.swapaxes(0, 1).reshape(C, 1, C * W)
    return Gradients(
        product(first, seen),
        product(second, jnp.concatenate([z, ones], axis=2)),
        product(of_gates, f) * exists,
        jnp.einsum("tei,tj->iej", a, h_tm1) * net.R_exists[:, None],
    )


def sums(truth: Gradients, estimate: Gradients) -> Array:
    """(E, 5): aligned, Σ|ĝ - g|, Σ g ĝ, Σ g² and Σ ĝ²."""
    total = []
    for g, e in zip(truth, estimate, strict=True):
        product = g * e
        parts = ((product > 0).astype(jnp.float32), jnp.abs(e - g), product, jnp.broadcast_to(g * g, e.shape), e * e)
        total.append(jnp.stack([part.sum((0, 2)) for part in parts], axis=1))
    return sum(total[1:], total[0])


def measure(net: Weights, windows: tuple[int, ...]) -> dict[str, Array]:
    """Metrics of Master-User and of every window, (1 + windows,), for one network."""
    T = len(net.y)
    at = forward(net)
    every = credits(net, at, windows)
    long = [n for n, k in enumerate(windows) if k >= SHARED * T]
    short = [n for n in range(len(windows)) if n not in long]
    chosen = [0, *(2 + n for n in short), 1]
    whole = gradients(net, at, every[:, jnp.array(chosen)], alone=1)
    truth = Gradients(*(g[:, :1] for g in whole))
    found = sums(truth, Gradients(*(g[:, 1:] for g in whole)))
    rows = dict(zip([*short, "own"], found, strict=True))
    for n in long:
        steps = max(T - windows[n], 1)
        part = gradients(net, at, every[:steps, 2 + n : 3 + n] - every[:steps, :1])
        rows[n] = sums(truth, Gradients(*(g + d for g, d in zip(truth, part, strict=True))))[0]
    aligned, error, dot, gg, ee = jnp.stack([rows["own"], *(rows[n] for n in range(len(windows)))]).T
    C, W, inputs = net.A_x.shape
    count = net.U_exists.sum() + net.R_exists.sum() + C * W * (inputs + W + 3)
    nonzero, size = (sum(part(g).sum() for g in truth) for part in (lambda g: (g != 0).astype(jnp.float32), jnp.abs))
    return {
        "alignment": aligned / nonzero,
        "mae": error / count,
        "mean_abs_truth": jnp.broadcast_to(size / count, error.shape),
        "cosine": dot / jnp.sqrt(gg * ee),
        "norm_ratio": jnp.sqrt(ee / gg),
    }


@partial(jax.jit, static_argnames=("windows",))
def measure_all(nets: Weights, windows: tuple[int, ...]) -> dict[str, Array]:
    """Of N networks, (N, 1 + windows)."""
    found: dict[str, Array] = lax.map(partial(measure, windows=windows), nets)
    return found


@partial(jax.jit, static_argnames=("number", "C", "W", "T", "inputs", "survival", "windows"))
def experiment(
    key: Array, number: int, C: int, W: int, T: int, inputs: int, survival: float, windows: tuple[int, ...]
) -> dict[str, Array]:
    """Draw so many networks and measure them."""

    def one(key: Array) -> dict[str, Array]:
        return measure(draw(key, C, W, T, inputs, survival), windows)

    found: dict[str, Array] = lax.map(one, jax.random.split(key, number))
    return found
