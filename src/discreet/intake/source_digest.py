"""Digest of a source when it was read: its path, size, time and SHA-256.

By it a steward sees that the source has changed since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ..frozen import frozen


@frozen
class SourceDigest:
    """Facts of a file when it was read; `time` is that of its last change, in nanoseconds."""

    path: str
    size: int
    time: int
    digest: str

    def changed(self) -> bool:
        """Return whether the file is gone or holds other bytes.

        A file of the same size and modification time counts as unchanged, and is not read again.
        """
        try:
            facts = Path(self.path).stat()
        except OSError:
            return True
        # The bytes of a file that nobody touched are not read again.
        if (facts.st_size, facts.st_mtime_ns) == (self.size, self.time):
            return False
        if facts.st_size != self.size:
            return True
        return _digest(Path(self.path)) != self.digest

    def to_dict(self) -> dict[str, object]:
        """Return the facts as plain values."""
        return {"path": self.path, "size": self.size, "time": self.time, "digest": self.digest}

    @classmethod
    def from_dict(cls, facts: Mapping[str, object]) -> SourceDigest:
        """Read the facts from plain values."""
        return cls(
            path=str(facts["path"]),
            size=int(str(facts["size"])),
            time=int(str(facts["time"])),
            digest=str(facts["digest"]),
        )


def digest_source(path: Path) -> SourceDigest:
    """Take the digest of a file."""
    facts = path.stat()
    return SourceDigest(str(path.resolve()), facts.st_size, facts.st_mtime_ns, _digest(path))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
