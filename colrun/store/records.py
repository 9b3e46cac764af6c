"""What colrun writes into a results folder besides rows: names of exact forms, and one schema for each record."""

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from colrun.errors import InvalidValueError
from colrun.estimators.plugins import KEY as ESTIMATOR
from colrun.store.files import StrangeFileError
from colrun.sweep.file import NAME as SWEEP
from colrun.sweep.seeds import Seeds

CONFIG = re.compile(r"[0-9a-z]{1,64}")
GENERATION = re.compile(r"[0-9]{6}")
PART = re.compile(r"[0-9]{6}-[0-9]{8}\.parquet")
RUN = re.compile(r"([0-9]{8}T[0-9]{6}Z-[0-9a-f]{6})\.json")
FAILURE = re.compile(r"([0-9a-z]{1,64}\.[0-9]{1,18})\.json")
CANDIDATE = re.compile(r"generation\.[^/\0]{1,200}\.[0-9]{1,10}\.[0-9a-f]{8}")
TEMPORARY = re.compile(r"[\w.-]{1,150}\.[^/\0]{1,200}\.[0-9]{1,10}\.[0-9a-f]{8}")
"""In the folder of files being written: what for, host, process and a random number."""
LINK = re.compile(r"_generations/([0-9]{6})")
MOST_ROWS = 1 << 26
"""In one part; colrun writes a sixteenth of it at most."""

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _text_or_nothing(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_ROWS


def _sweep_name(value: Any) -> bool:
    return isinstance(value, str) and SWEEP.fullmatch(value) is not None


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float)


def _plain_or_list(value: Any) -> bool:
    return all(map(_plain, value)) if isinstance(value, list) else _plain(value)


def _by_name(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(check(each) for each in value.values())


def _keys(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(key, str) and ESTIMATOR.fullmatch(key) for key in value)


_jobs = _by_name(_by_name(_text))


def _extra(value: Any) -> bool:
    """Of a seal, the folder that follows and what it leaves out: estimators and jobs; nothing of any other part."""
    if not isinstance(value, dict) or not value.keys() <= {"next", "without", "removed"}:
        return False
    named = not value or CANDIDATE.fullmatch(str(value.get("next"))) is not None
    removed = value.get("removed", [])
    return named and _keys(value.get("without", [])) and isinstance(removed, list) and all(map(_jobs, removed))


INDEX: dict[str, Check] = {
    "experiment": _sweep_name,
    "numerics": _count,
    "done": _jobs,
    "rows": _count,
    "diverged": _count,
    "run": _text,
    "seconds": _number,
    "estimated": _number,
    "checksum": _text,
    "seal": _text,
    "extra": _extra,
}
"""Of a part; all of them must be there."""

FACTS: dict[str, Check] = {
    "run": _text,
    "started": _text,
    "finished": _text_or_nothing,
    "sweep_file": _text,
    "options": _by_name(_plain_or_list),
    "bits": _by_name(lambda value: _plain(value) or _by_name(_plain)(value)),
}
"""Of a run, as far as anything is done with them; other facts are only shown."""

FAILED: dict[str, Check] = {
    "job": _text,
    "error": _text,
    "experiment": _sweep_name,
    "parameters": _by_name(_plain),
    "estimators": _keys,
    "run": _text,
    "traceback": _text,
}
"""Of a job that failed."""


def checked(record: Mapping[str, Any], schema: Mapping[str, Check], optional: tuple[str, ...] = ()) -> None:
    """Refuse a record that colrun cannot have written."""
    for name, check in schema.items():
        if name not in record:
            if name not in optional:
                raise StrangeFileError(f"has no {name!r}")
        elif not check(record[name]):
            raise StrangeFileError(f"has a {name!r} that colrun does not write")


@lru_cache(maxsize=4096)
def _are_estimators(names: str) -> bool:
    return not names or all(map(ESTIMATOR.fullmatch, names.split(",")))


def check_done(done: Mapping[str, Mapping[str, str]], rows: int, size: int) -> None:
    """Of an index: the jobs are named as colrun names them, and there are no more than a file of that size can hold."""
    claimed = 0
    for config, groups in done.items():
        if not CONFIG.fullmatch(config):
            raise StrangeFileError("names a config that colrun does not write")
        for names, text in groups.items():
            if not _are_estimators(names):
                raise StrangeFileError("names an estimator that cannot be one")
            try:
                claimed += len(Seeds.parse(text)) * (names.count(",") + 1)
            except InvalidValueError as error:
                raise StrangeFileError(f"names jobs that cannot be read: {error}") from None
    if claimed > rows or claimed > size:
        raise StrangeFileError("claims more jobs than it can hold")
