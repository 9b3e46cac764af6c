"""The end of a Parquet file, read byte by byte: what a part says of itself, without decoding any column."""

import hashlib

from colrun.store.files import StrangeFileError, read_at

WHOLE = b"colrun-file"
"""Key of the hash of the whole file, itself counted as zeros: every byte can be checked without decoding any."""
HASH_LENGTH = 32
LARGEST_PART = 4 << 30
LARGEST_FOOTER = 256 << 20
TAIL = 1 << 16
"""Bytes read at once from a file's end, in which nearly every footer is."""


def hash_of(content: bytes | bytearray) -> str:
    return hashlib.blake2b(content, digest_size=HASH_LENGTH // 2).hexdigest()


def is_whole(content: bytes) -> bool | None:
    """Whether every byte of a part is what was written; None of a part from before that could be said."""
    place = value_of(content, WHOLE)
    if place is None:
        return None
    zeros = bytearray(content)
    zeros[place] = b"0" * HASH_LENGTH
    return hash_of(zeros).encode() == content[place]


def value_of(footer: bytes | bytearray, key: bytes) -> slice | None:
    """Where the value of a key of the metadata is, in the compact Thrift of a Parquet footer.

    Metadata stand at its end, each as 0x18, length, key, 0x18, length, value. To decode all of a footer, with every
    column's place, takes ten times as long, and there may be many thousands.
    """
    at = footer.rfind(b"\x18" + bytes([len(key)]) + key + b"\x18")
    if at < 0:
        return None
    at += len(key) + 3
    length = shift = 0
    while at < len(footer) and shift < 35:
        byte = footer[at]
        at, length, shift = at + 1, length | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            return slice(at, at + length) if at + length <= len(footer) else None
    return None


def footer_of(handle: int, size: int) -> bytes:
    """From a file's end; raises of one that was cut."""
    tail = read_at(handle, max(0, size - TAIL), TAIL)
    if size < 12 or tail[-4:] != b"PAR1":
        raise StrangeFileError("is cut short, or no Parquet file")
    length = int.from_bytes(tail[-8:-4], "little")
    if length > min(size - 12, LARGEST_FOOTER):
        raise StrangeFileError("has a footer that is not what was written")
    return tail[-8 - length : -8] if length <= len(tail) - 8 else read_at(handle, size - 8 - length, length)


def columns_in(footer: bytes) -> int:
    """Their number: a footer begins with its version and the list of the schema's elements, the first its root."""
    if footer[:1] != b"\x15" or footer[2:3] != b"\x19":
        raise StrangeFileError("has a footer that is not what was written")
    if footer[3] >> 4 < 15:
        return (footer[3] >> 4) - 1
    low, high = footer[4], footer[5]
    return (low if low < 0x80 else low & 0x7F | high << 7) - 1
