"""colrun: online recurrent learning with columnar networks, reproduced and measured.

Names are imported on first use, so that `colrun --help` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colrun.api import compare, dense_network, evaluate, gradients, network, own_network
    from colrun.learning.learner import Learner, learner
    from colrun.store.load import load
    from colrun.testbed import Sequence, sequence

__version__ = "0.1.0"
__all__ = [
    "Learner", "Sequence", "__version__", "compare", "dense_network", "evaluate", "gradients", "learner", "load",
    "network", "own_network", "sequence",
]  # fmt: skip

_HOMES = {"Sequence": "colrun.testbed", "sequence": "colrun.testbed", "load": "colrun.store.load"}
_HOMES |= dict.fromkeys(("Learner", "learner"), "colrun.learning.learner")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'colrun' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "colrun.api")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
