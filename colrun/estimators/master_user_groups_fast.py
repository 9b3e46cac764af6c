"""The fast form of master-user-groups on columnar networks: see master_user_groups.py.

A weight's credit is that of its group's state alone, so no credit of states or pre-activations gives all gradients: the
credit of every state is followed through each column, and each weight takes the part of its own.
"""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.laterals import by_source
from colrun.engine.run import Run
from colrun.estimators.master_user_fast import own_credit
from colrun.networks.cells import CELLS
from colrun.streams import stream


class MasterUserGroups(FastForm):
    """Random groups."""

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """Gradients: layers by column, then the rows of gates."""
        batch, dtype = run.batch, run.h.dtype
        owner = {name: self._owner(run, name, mask.shape[1:]) for name, mask in batch.masks.items()}
        credit = own_credit(run, run.own_jacobian, run.w, meta=True)
        found = {name: np.zeros(mask.shape, dtype) for name, mask in batch.masks.items()}
        N, T, S, _, C = run.partials.by_a.shape
        a, r = (
            np.ascontiguousarray(np.einsum("ntsi,ntsgi->ngit", credit.reshape(N, T, S, C), by))
            for by in run.partials[:2]
        )
        seen = [batch.layers.x.swapaxes(1, 2)[:, None].repeat(C, axis=1)]
        if run.stateful:
            seen.append(run.h_tm1.swapaxes(1, 2)[:, :, None])
        layers(
            a, by_source(batch.U), batch.layers.B, np.ascontiguousarray(run.z.swapaxes(-1, -2)),
            np.ascontiguousarray(run.f.swapaxes(-1, -2)), np.ascontiguousarray(np.concatenate(seen, axis=2)),
            *(owner[name] for name in "AbBc"), *(found[name] for name in "AbBc"),
        )  # fmt: skip
        own = np.arange(C)[:, None]
        for g, gate in enumerate(CELLS[run.cell].gates):
            # Of what leads into state i, its own group's part alone is not 0.
            U = np.ascontiguousarray((a[:, g, None] @ run.f).swapaxes(1, 2))
            found[f"U.{gate}"][:] = np.where((owner[f"U.{gate}"] == own[..., None]) & batch.masks[f"U.{gate}"], U, 0)
            if run.linked:
                R = r[:, g] @ run.h_tm1
                found[f"R.{gate}"][:] = np.where((owner[f"R.{gate}"] == own) & batch.masks[f"R.{gate}"], R, 0)
            if f"q.{gate}" in found:
                found[f"q.{gate}"][:] = np.where(owner[f"q.{gate}"] == own[:, 0], a[:, g].sum(-1), 0)
        return [found] * len(windows)

    def _owner(self, run: Run, name: str, shape: tuple[int, ...]) -> Array:
        """A random state for every weight, (N, …), from a stream of its own per tensor."""
        C = run.h.shape[2]
        return np.stack([stream(seed, f"groups.{name}").integers(0, C, shape) for seed in run.batch.seeds])


@kernel
def dots(credit: Array, inputs: Array, owner: Array, out: Array) -> None:
    """out[v, k] = Σ_t credit[v, owner, t] inputs[k, t]: credit (W, C, T), inputs (K, T), owner and out (W, K)."""
    T = inputs.shape[1]
    for v in range(out.shape[0]):
        for k in range(out.shape[1]):
            i, total = owner[v, k], inputs.dtype.type(0)
            for t in range(T):
                total += credit[v, i, t] * inputs[k, t]
            out[v, k] = total


@kernel
def layers(
    a: Array, U: Array, B: Array, z: Array, f: Array, seen: Array,
    of_A: Array, of_b: Array, of_B: Array, of_c: Array, A: Array, b: Array, to_B: Array, c: Array,
) -> None:  # fmt: skip
    """Gradients of both layers: a (N, G, C, T), U (N, C, G·C, W) by source column, z and f (N, C, W [+ 1], T), what the
    first layer sees (N, C, K, T); owners and gradients by name."""
    N, G, C, T = a.shape
    W = B.shape[2]
    second, first = np.empty((W, C, T), a.dtype), np.empty((W, C, T), a.dtype)
    for n in range(N):
        for j in range(C):
            for v in range(W):
                for i in range(C):
                    weight = U[n, j, i, v]
                    for t in range(T):
                        second[v, i, t] = a[n, 0, i, t] * weight if f[n, j, v, t] > 0.0 else 0.0
                    for g in range(1, G):
                        weight = U[n, j, g * C + i, v]
                        for t in range(T):
                            second[v, i, t] += a[n, g, i, t] * weight if f[n, j, v, t] > 0.0 else 0.0
            np.dot(B[n, j].T, second.reshape(W, C * T), first.reshape(W, C * T))
            for v in range(W):
                for i in range(C):
                    for t in range(T):
                        first[v, i, t] = first[v, i, t] if z[n, j, v, t] > 0.0 else 0.0
            dots(first, seen[n, j], of_A[n, j], A[n, j])
            dots(second, z[n, j, :W], of_B[n, j], to_B[n, j])
            for v in range(W):
                for credit, owner, out in ((first, of_b[n, j], b[n, j]), (second, of_c[n, j], c[n, j])):
                    total = a.dtype.type(0)
                    for t in range(T):
                        total += credit[v, owner[v], t]
                    out[v] = total


FAST = {"master-user-groups": MasterUserGroups()}
