"""How a command fails: a coded message and an exit status, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

__all__ = ["FAILED", "FINDINGS", "OK", "USAGE", "guarded", "say"]

OK, FINDINGS, USAGE, FAILED = 0, 1, 2, 3
_INTERRUPTED = 130
"""How the library of the command line ends on Ctrl-C, without a word."""


def say(text: str) -> None:
    """Write a line to standard error."""
    print(text, file=sys.stderr)


def guarded(command: Callable[..., object]) -> int:
    """Run a command line and turn every failure into an exit status.

    What a bug raises is named by its code only: its text could hold a value.
    """
    try:
        command()
    except SystemExit as stop:
        code = stop.code
        if code == _INTERRUPTED:
            return _stopped(stop.__context__)
        return code if isinstance(code, int) else OK if code is None else FINDINGS
    except KeyboardInterrupt as stop:
        return _stopped(stop)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as failure:
        return _told(failure)
    return OK


def _stopped(stop: BaseException | None) -> int:
    """Say that the command was interrupted, with what the interrupt itself has to say."""
    while stop is not None and not isinstance(stop, KeyboardInterrupt):
        stop = stop.__cause__
    say(f"interrupted: {stop}" if stop is not None and stop.args else "interrupted")
    return FAILED


def _told(failure: Exception) -> int:
    from dpql.errors import DpqlError

    if isinstance(failure, DpqlError):
        lines = str(failure).split("\n")
        say("\n".join([f"error[{lines[0].replace(': ', ']: ', 1)}", *lines[1:]]))
        return failure.status
    if isinstance(failure, OSError):
        name = f"`{failure.filename}`: " if failure.filename else ""
        say(f"error[DPQL-E092]: {name}{(failure.strerror or 'cannot be read').lower()}")
        return FAILED
    say("error[DPQL-E093]: something went wrong inside dpql")
    say("help: please report the command and the file; do not send data")
    return FAILED
