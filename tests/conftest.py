"""Strict settings for all tests in one place: one thread, so that parallel test processes do not fight for cores."""

import torch

torch.set_num_threads(1)
