"""What a path to be written to stands for: a regular file, found through its links, or something to write into."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_TEMPORARY = ".cpsched-"
_MOST_LINKS = 40
"""As many as Linux follows."""


@dataclass(frozen=True)
class Target:
    """Where the bytes go."""

    path: Path
    """Of a regular file: no link, so that what replaces it is in its folder."""
    before: os.stat_result | None = None
    """Of what is there now; None if nothing is."""
    descriptor: int | None = None
    """Open in this process already (/dev/stdout, /dev/fd/3): opened again it would be written from its beginning."""

    @property
    def is_file(self) -> bool:
        """Whether a regular file is or will be there, which can be replaced as a whole."""
        return self.descriptor is None and (self.before is None or stat.S_ISREG(self.before.st_mode))

    def check(self) -> None:
        """OSError if it cannot be written, as far as that shows without a change; a full disk does not."""
        self._check_permission()
        if self.is_file:
            handle, name = self._temporary()
            os.close(handle)
            os.unlink(name)

    @contextmanager
    def replaced(self) -> Iterator[IO[bytes]]:
        """A stream beside the file, which takes its place, its permissions and its owner when all is written."""
        self._check_permission()
        handle, name = self._temporary()
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            self._make_alike(name)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise

    def opened(self) -> IO[bytes]:
        """A stream into it, as it is; a regular file is emptied."""
        self._check_permission()
        return self.path.open("wb") if self.descriptor is None else os.fdopen(os.dup(self.descriptor), "wb")

    def _check_permission(self) -> None:
        if self.descriptor is not None:
            if fcntl.fcntl(self.descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise _refusal(errno.EBADF)
        elif self.before is not None and not os.access(self.path, os.W_OK):
            # Its folder may allow to replace it, but its owner made it read-only to prevent that.
            raise _refusal(errno.EACCES)

    def _temporary(self) -> tuple[int, str]:
        return tempfile.mkstemp(prefix=_TEMPORARY, dir=self.path.parent)

    def _make_alike(self, name: str) -> None:
        """Give the new file the group, the owner and the permissions of the old one, as far as the system allows."""
        if self.before is None:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            return
        for owner, group in ((-1, self.before.st_gid), (self.before.st_uid, -1)):
            with suppress(OSError):
                os.chown(name, owner, group)
        os.chmod(name, stat.S_IMODE(self.before.st_mode))


def target_of(path: str | os.PathLike[str]) -> Target:
    """Follow the links; OSError for a folder, for links in a circle, and for what cannot be looked at."""
    own = re.compile(rf"(?:/dev|/proc/{os.getpid()}(?:/task/\d+)?)/fd/(\d+)")
    place = Path(path)
    for _ in range(_MOST_LINKS):
        place = Path(os.path.realpath(place.parent)) / place.name
        if found := own.fullmatch(str(place)):
            descriptor = int(found[1])
            return Target(place, os.fstat(descriptor), descriptor)
        if not place.is_symlink():
            break
        place = place.parent / os.readlink(place)
    try:
        before = os.stat(path)
    except FileNotFoundError:
        return Target(place)
    if stat.S_ISDIR(before.st_mode):
        raise _refusal(errno.EISDIR)
    return Target(place if stat.S_ISREG(before.st_mode) else Path(path), before)


def _refusal(number: int) -> OSError:
    return OSError(number, os.strerror(number))
