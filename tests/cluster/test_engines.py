"""What is not installed is skipped with the reason, and in CI it is a failure."""

import pytest

from tests.cluster.engines import need


def test_skipped_but_not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"no-such-engine not installed \(apt-get install some-package\)"):
        need("sh", "no-such-engine", package="some-package")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="nothing is skipped in CI: no-such-engine not installed"):
        need("no-such-engine", package="some-package")
    need("sh", package="dash")
