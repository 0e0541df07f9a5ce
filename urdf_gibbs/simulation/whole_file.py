"""A file that appears complete or not at all, also after a crash of the machine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

ENDING = ".part"  # of files that are being written


@contextmanager
def whole_file(path: Path, mark: str = ".") -> Iterator[BinaryIO]:
    """An open file that takes its name when the block ends, and is removed where that raises; until then its name begins with ``mark``."""
    target = path.resolve()
    part = target.with_name(f"{mark}{target.name}.{secrets.token_hex(4)}{ENDING}")
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):  # the name, too, is on the disk
        folder = os.open(target.parent, os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
