"""Kernels without a folder to keep them in: compiled in memory, and said once."""

import pytest
from numba.core.dispatcher import Dispatcher

from colrun import compiling


def test_without_a_cache_kernels_still_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(_: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(Dispatcher, "enable_caching", refused)
    compiling._say_uncached.cache_clear()
    one, other = (compiling.kernel(lambda x: x + 1), compiling.kernel(lambda x: x + 2))
    assert (one(1), other(1)) == (2, 3)
    assert capsys.readouterr().err.count("NUMBA_CACHE_DIR") == 1
