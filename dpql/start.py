"""Where `dpql` begins: the plain call of `check` is answered without building a command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main", "plain_check"]


def plain_check(arguments: Sequence[str]) -> list[str] | None:
    """The files of `check FILE...` without an option; None for every other call.

    Editors and hooks make this call at every key stroke or commit, so it should not wait for what
    the other commands need.
    """
    if len(arguments) < 2 or arguments[0] != "check":
        return None
    files = list(arguments[1:])
    return None if any(file.startswith("-") and file != "-" for file in files) else files


def main() -> None:
    """Run the command line; no traceback reaches a user."""
    from dpql.failing import guarded

    # A tree is many small objects that live to the end: collecting among them only costs time.
    gc.set_threshold(200_000, 20, 20)
    # Looking for plug-ins of pydantic means reading every installed package; none is wanted.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.exit(guarded(_command))


def _command() -> None:
    files = plain_check(sys.argv[1:])
    if files is None:
        from dpql.cli import app

        app()
        return
    from pathlib import Path

    from dpql.commands.check import run

    sys.exit(run([Path(file) for file in files], "text", None))
