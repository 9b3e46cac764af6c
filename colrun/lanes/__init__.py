"""Learners run compiled, many at once: a lane is one run, of one seed and one step size.

Lanes lie side by side in vectors of `LANES` numbers, one group of lanes after the other: every array of a group is
(…, LANES), and all arithmetic is elementwise over the last axis (vectors.py). So a lane's bits do not depend on its
neighbours, and groups are filled up with copies that nobody reads.

    layout.py      which weights there are, as lists of rows: what each weight multiplies, what it enters
    forward.py     one step of the networks, with the derivatives of the states
    readout.py     prediction, LMS and its derivatives, divergence; the optimisers
    influence.py, window.py, exact.py, rank_one.py, kronecker.py, groups.py     the estimators
    learners.py    which estimator is run by which kernel, with what memory (method.py: what they share)
    run.py         `Lanes`, what others use
"""
