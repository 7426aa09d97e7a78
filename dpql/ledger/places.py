"""Where data lies, written so that two names of one place compare equal."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["place"]

_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")


def place(location: str) -> str:
    """One spelling of a location: a resolved `file://` URI, a `sha256:` fingerprint, or as given.

    A bare path and a file URI become the URI of the absolute path with symbolic links resolved;
    any other URI, such as a database's, is kept to the letter.
    """
    if _FINGERPRINT.fullmatch(location.lower()):
        return location.lower()
    parts = urlsplit(location)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).resolve().as_uri()
    if "://" in location:
        return location
    return Path(location).expanduser().resolve().as_uri()
