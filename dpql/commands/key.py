"""`dpql key new`: a reviewer's key pair."""

from __future__ import annotations

from pathlib import Path

from dpql.approvals import new_key
from dpql.failing import OK, USAGE, say

__all__ = ["new"]


def new(path: Path, ask: bool) -> int:
    """Write the private key, print the public one."""
    password = None
    if ask:
        import getpass

        password = getpass.getpass("password: ")
        if not password or password != getpass.getpass("again: "):
            say("error: the two passwords differ, or are empty")
            return USAGE
    public = new_key(path, password)
    print(public)
    say(f"wrote {path} (keep it secret) and {path}.pub")
    return OK
