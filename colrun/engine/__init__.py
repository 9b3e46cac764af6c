"""The fast engine: networks of one shape computed together, with θ fixed over a sequence. NumPy and numba, no torch.

In reading order:

    features, batch     networks of one architecture, stacked, with the sequences they are shown
    laterals            U as kernels take it
    cells, forward      the state updates, and the run through all steps
    jacobian, adjoint   J(t) = ∂s(t)/∂s(t-1) of every step, and the exact adjoint that it gives: the truth's credit
    run                 a batch run forward, with all that credits need
    grams               inner products of what weights multiply, for estimators that need norms of θ-sized sums
    forms               what an estimator's fast form offers: a credit
    columns, kept       from credits to gradients,
    sums, compare       or straight to the sums behind the metrics, column by column
    contract            both, as the rest of the engine asks for them
    metrics             how good an estimate is
    measure             a batch in, gradients or metrics of every estimator out

Kernels take one network and one column at a time, so that what a column needs stays in cache while all estimators pass;
no gradient but the truth's is kept, and that for one column. Where lateral weights are few they are a list, and masked
weights cost nothing.

Shapes: N networks, T steps, G gates, S numbers of state, C columns, W width; P = S·C. Index t of an array over steps is
step t+1 of the paper, so `s[:, t]` is the state before and `s[:, t+1]` the state after that step.
"""
