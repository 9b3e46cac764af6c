"""The fast engine: the credit form of contraction.py and the estimators by compiled kernels.

The order is forward → Jacobian → credits (`run`) → gradients → sums (`contract`). The kernels take one network and one
column at a time, so that what a column needs stays in cache while all estimators pass; no gradient but the truth's is
kept, and that for one column. Where lateral weights are few they are a list, and masked weights cost nothing.
"""

from colrun.compiled.run import Compiled, has_kernels

__all__ = ["Compiled", "has_kernels"]
