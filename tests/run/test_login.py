"""The warning about a login node: by what is on the PATH and in the environment."""

from pathlib import Path

import pytest

from colrun.run.login import INSIDE, LARGE_SECONDS, login_node_warning


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of its own, outside any job."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("socket.gethostname", lambda: "node17")
    for name in INSIDE:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_where_jobs_are_submitted(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert login_node_warning(LARGE_SECONDS) is None
    install(node, "sbatch")
    warning = login_node_warning(7200.0)
    assert warning is not None
    assert "node17 looks like a cluster's login node (sbatch is here, and this is not a job)" in warning
    assert "about 120 min of CPU time; `colrun script slurm` runs" in warning
    assert login_node_warning(LARGE_SECONDS - 1) is None, "a small sweep is nobody's business"
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    assert login_node_warning(7200.0) is None, "a compute node"


def test_by_its_name(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(node.iterdir())
    monkeypatch.setattr("socket.gethostname", lambda: "Login2.cluster")
    warning = login_node_warning(7200.0)
    assert warning is not None
    assert "(by its name)" in warning
