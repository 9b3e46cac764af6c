"""Sparse n-step approximation: rtrl that keeps, of the influence matrix, what a parameter reaches within k steps.

    M(t) = P ⊙ (∂s(t)/∂θ + J(t) M(t-1))             P: the states reached within k steps (reach.py), weight by weight
    Mw(t+1) = Pw ⊙ (Mw(t) + α (h ∂δᵀ + δ M_h)),   ∂δ = -(w·M_h + h·Mw)                        where w learns
    ĝ(t) = δ ∂δ

The published method has no learning w. Here w_j belongs to the node of state j, and within one more step δ(t), which
every state enters, reaches all of w: Pw = P for k = 1, and all of w for k ≥ 2. So `snap-1` is Master-User where no
column's features reach another, and a k at which nothing new is reached is rtrl, learning w or not. J and ∂s/∂θ
are those of θ(t), and M is carried on while θ moves.

    credit     c^g(t) = λ^g(t) for weights g of one set, the exact adjoint of adjoint.py kept to its sets at every step:
               λ^g = P_g ⊙ (-δ w + α δ μ - α w (h·μ) + J(t+1)ᵀ λ^g(t+1)),   μ^g = Pw_g ⊙ (-δ h + μ - α h (h·μ))
               u_i takes c^{u_i}_i; A_i and b_i take Σ_j c^{A_i}_j ∂s_j/∂f_i, row r of B_i and c_i that of its own set

Cost: Σ_g |P_g||θ_g| memory and Σ_g |P_g|²|θ_g| operations per step: |θ| where every set is one state, up to rtrl's.
At a fixed lateral ratio |P_g| does not depend on C, so both are linear in |θ| ∝ C. Where w learns and k ≥ 2, C|θ| more
of both.
Reference: Menick, Elsen, Evci, Osindero, Simonyan and Graves 2021.
"""

from colrun.estimators.snap_online import OnlineSnAp

ONLINE = {"snap": OnlineSnAp}
