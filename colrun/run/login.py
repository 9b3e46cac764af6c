"""Whether a sweep is about to keep a cluster's login node busy, which is for everybody's small things."""

import os
import shutil
import socket

SUBMITTING = ("sbatch", "qsub", "bsub")
"""Commands of Slurm, PBS and Grid Engine, and LSF."""
INSIDE = ("SLURM_JOB_ID", "PBS_JOBID", "JOB_ID", "LSB_JOBID")
"""What these set in the environment of a job."""
LARGE_SECONDS = 600.0


def login_node_warning(seconds: float) -> str | None:
    """What to say about so much CPU time here; None if it is little, or if nothing points to a login node."""
    if seconds < LARGE_SECONDS or any(name in os.environ for name in INSIDE):
        return None
    submitting = next((name for name in SUBMITTING if shutil.which(name)), None)
    host = socket.gethostname()
    if submitting is None and "login" not in host.lower():
        return None
    sign = f"{submitting} is here, and this is not a job" if submitting else "by its name"
    return (
        f"warning: {host} looks like a cluster's login node ({sign}), and this is about {seconds / 60:.0f} min of CPU "
        "time; `colrun script slurm` runs a sweep on compute nodes"
    )
