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

from colrun.estimators.kf_rtrl_online import OnlineKFRTRL

ONLINE = {"kf-rtrl": OnlineKFRTRL}
