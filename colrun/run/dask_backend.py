"""joblib's Dask backend with two things mended that a long run on workers which may die cannot do without."""

from collections.abc import Callable
from typing import Any

from joblib._dask import DaskDistributedBackend


class CarefulBackend(DaskDistributedBackend):  # type: ignore[misc]
    """Ends when a task cannot be run, and sends work away even if there is one worker."""

    def effective_n_jobs(self, n_jobs: int) -> int:  # noqa: ARG002
        """At least two: joblib takes one for no parallelism at all, and would run tasks in the main process."""
        return max(2, len(self.client.nthreads()))

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
        """joblib counts on being called back after a failure too, and waits for ever where it is not."""
        future = super().submit(func, callback)

        def failed(done: Any) -> None:
            error = done.exception()
            if error is not None and callback is not None:
                callback(error)

        future.add_done_callback(failed)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        """Results are lists; an error is what became of a task without one."""
        if isinstance(out, BaseException):
            raise out
        return super().retrieve_result_callback(out)
