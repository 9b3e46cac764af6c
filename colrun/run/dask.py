"""joblib's Dask backend: a local cluster on the loopback address, or the workers of a scheduler anywhere."""

import contextlib
import logging
import re
import threading
import time
from typing import TYPE_CHECKING, Any

from colrun.run.pool import BackendError, Notice
from colrun.run.signals import held
from colrun.store.provenance import machine
from colrun.sweep.plan import Unit

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_SECONDS = 5.0
AHEAD = 1000
"""Units that wait at a scheduler, so that workers which come later find work too."""
LOOK_SECONDS = 5.0
"""So often it looks whether any worker is left."""


class Dask:
    """The workers of a scheduler, or without one so many of a local cluster, each with one thread."""

    deaths = 1  # the scheduler has tried it on several workers before it says so

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        self.scheduler, self.jobs = scheduler, jobs
        self._cluster: LocalCluster | None = None
        self._client: Client | None = None
        _quiet()
        if scheduler is not None:
            self._connect()

    def ready(self, notice: Notice) -> list[dict[str, Any]]:
        """Workers must have one thread and the same colrun; other versions of packages are told."""
        client = self._connect()
        self._wait_for_workers(client, notice)
        if self.scheduler is None:
            return []
        for address, threads in client.nthreads().items():
            if threads != 1:
                raise BackendError(
                    f"the worker {address} has {threads} threads, and colrun needs one per worker; start workers with: "
                    f"dask worker {self.scheduler} --nthreads 1 --nworkers {threads}"
                )
        try:
            found = client.run(machine)
        except Exception as error:  # whatever an installation that does not fit can raise
            raise BackendError(
                f"the workers of {self.scheduler} cannot run colrun ({_short(error)}); install the same version of it "
                "for them."
            ) from None
        own = machine()["packages"]
        for address, facts in found.items():
            for name, version in facts["packages"].items():
                if own[name] != version:
                    notice(
                        f"warning: {name} is {version} at the worker {address} and {own[name]} here; numbers may "
                        "differ in their last bits"
                    )
        return [{"worker": address} | facts for address, facts in sorted(found.items())]

    def parallel(self, alone: bool, notice: Notice) -> Any:  # noqa: ARG002
        """With a client of its own, as closing it is what takes back the tasks of one that ended early."""
        from joblib import Parallel

        from colrun.run.dask_backend import CarefulBackend

        self._close_client()
        client = self._connect()
        self._wait_for_workers(client, notice)
        threading.Thread(target=self._look, args=(client, notice), daemon=True).start()
        return Parallel(
            backend=CarefulBackend(client=client),
            return_as="generator_unordered",
            pre_dispatch=AHEAD if self.scheduler else 2 * self.jobs,
            batch_size=1,
        )

    def lost(self, error: Exception, flying: dict[int, Unit]) -> list[Unit] | None:
        """The scheduler names the task that it gave up."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        if isinstance(error, KilledWorker):
            number = re.search("unit-([0-9]+)", str(error.task))
            return [flying[int(number[1])]] if number else []
        if isinstance(error, (CancelledError, FutureCancelledError, CommClosedError)):
            raise self._gone() from None
        return None

    def _gone(self) -> BackendError:
        return BackendError(
            f"the Dask scheduler {self.scheduler or 'of the local cluster'} went away; what is done is kept. Run the "
            "same command again to go on."
        )

    def stop(self) -> None:
        """Take back what waits. A unit that a worker of a scheduler is doing it still completes, and publishes."""
        self.close()

    def close(self) -> None:
        """Leave the scheduler, or end the local cluster."""
        self._close_client()
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            with contextlib.suppress(Exception):
                cluster.close(timeout=CONNECT_SECONDS)

    def _close_client(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                client.close(timeout=CONNECT_SECONDS)

    def _connect(self) -> "Client":
        from distributed import Client
        from distributed.security import Security

        if self._client is not None:
            return self._client
        address = self.scheduler or self._local()
        if address.startswith("tls") and Security().get_connection_args("client").get("ssl_context") is None:
            raise BackendError(
                f"{address} needs certificates, and Dask's configuration names none; set distributed.comm.tls.ca-file "
                "and distributed.comm.tls.client.cert and key."
            )
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise BackendError(f"no Dask scheduler answers at {address} ({_short(error)}).") from None
        return self._client

    def _local(self) -> str:
        from distributed import LocalCluster

        if self._cluster is None:
            with held():
                self._cluster = LocalCluster(
                    n_workers=self.jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                    preload=["colrun.run.guard"],
                )
        return str(self._cluster.scheduler_address)

    def _wait_for_workers(self, client: "Client", notice: Notice) -> None:
        told = False
        try:
            while not client.nthreads():
                if not told:
                    notice(f"waiting for workers of {self.scheduler}; start some with: dask worker {self.scheduler}")
                told = True
                time.sleep(0.2)
        except OSError:
            raise self._gone() from None

    def _look(self, client: "Client", notice: Notice) -> None:
        """Say so when no worker is left, once each time: the sweep then waits for new ones."""
        told = False
        while client is self._client:
            time.sleep(LOOK_SECONDS)
            with contextlib.suppress(Exception):
                left = len(client.scheduler_info()["workers"])
                if not left and not told and client is self._client:
                    notice("no Dask worker is left; waiting for one")
                told = not left


def _quiet() -> None:
    """What matters is said in our words; Dask tells of each lost connection in many lines."""
    import distributed  # noqa: F401  - sets up its loggers

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]
    for name in [*names, "asyncio"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}" if str(error) else type(error).__name__
