"""`python -m tests.golden` rewrites the golden rows."""

import torch

from tests.golden import write

torch.set_num_threads(1)
write()
