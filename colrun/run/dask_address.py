"""What can be said of `--backend dask` before anything is imported or reached."""

import importlib.util
import re

from colrun.errors import InvalidValueError, shown

ADDRESS = re.compile(r"(tcp|tls)://([^\s:/]+|\[[0-9a-fA-F:.]+\]):([0-9]{1,5})")


def check_extra() -> None:
    """Say how to install what Dask needs."""
    if importlib.util.find_spec("distributed") is None or importlib.util.find_spec("dask") is None:
        raise InvalidValueError("--backend dask needs Dask, which is not installed: pip install 'colrun[dask]'.")


def check_address(text: str) -> str:
    """A scheduler's address."""
    match = ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match[3]) < 65536:
        raise InvalidValueError(f"scheduler {shown(text)} is no address; it must be such as tcp://192.168.1.5:8786.")
    return text
