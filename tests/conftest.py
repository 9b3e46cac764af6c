"""Strict settings for all tests in one place: one thread, so that parallel test processes do not fight for cores.

Ctrl-C is not ignored, also where the tests run in a shell's background: processes that tests start would inherit that.
"""

import signal

import torch

torch.set_num_threads(1)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
