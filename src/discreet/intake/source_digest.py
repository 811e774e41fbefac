"""A source as it was when it was read: its name, size, time and digest, by which a steward sees that it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ..frozen import frozen


@frozen
class SourceDigest:
    """What a file was like."""

    path: str
    size: int
    time: int
    digest: str

    def changed(self) -> bool:
        """Return whether the file is gone or holds other bytes; those of an untouched file are not read again."""
        try:
            facts = Path(self.path).stat()
        except OSError:
            return True
        if (facts.st_size, facts.st_mtime_ns) == (self.size, self.time):
            return False
        return facts.st_size != self.size or _digest(Path(self.path)) != self.digest

    def to_dict(self) -> dict[str, object]:
        """Return the facts as plain values."""
        return {"path": self.path, "size": self.size, "time": self.time, "digest": self.digest}

    @classmethod
    def from_dict(cls, facts: Mapping[str, object]) -> SourceDigest:
        """Read the facts from plain values."""
        return cls(
            str(facts["path"]),
            int(str(facts["size"])),
            int(str(facts["time"])),
            str(facts["digest"]),
        )


def digest_source(path: Path) -> SourceDigest:
    """Take the stamp of a file."""
    facts = path.stat()
    return SourceDigest(str(path.resolve()), facts.st_size, facts.st_mtime_ns, _digest(path))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
