"""`dpql run`: charge, read, release."""

from __future__ import annotations

import getpass
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpql.api import RunResult
from dpql.api import run as execute
from dpql.failing import OK, USAGE, say
from dpql.plan_file import read_plan
from dpql.plots import lacks_plots

__all__ = ["pairs", "run", "who"]

_SITE_KEY = re.compile(r"[^/\\:.~][^/\\:]*/[^/\\:]+")
"""A ledger key of one site; a path of that look is written with `./` before it."""


def run(
    plan: Path,
    data: list[str],
    ledger: list[str],
    approval: list[Path],
    out: Path | None,
    again: bool,
    mock: bool,
    actor: str | None,
) -> int:
    """Run a plan and print what was released."""
    if mock and (data or ledger or approval or again):
        say("error: `--mock` goes without --data, --ledger, --approval and --again")
        return USAGE
    if not mock and not ledger:
        say("error: a run needs a ledger: what it spends must outlive it")
        say("help: add `--ledger FILE`, or `--mock` for synthetic rows")
        return USAGE
    bindings = pairs(data, "--data", required=True)
    ledgers = pairs(ledger, "--ledger", required=False)
    if bindings is None or ledgers is None:
        return USAGE
    file = read_plan(plan)
    with _progress() as tell:
        result = execute(
            file,
            None if mock else bindings,
            None if mock else ledgers,
            approvals=approval,
            again=again,
            mock=mock,
            actor=actor or who(),
            out=out,
            progress=tell,
        )
    _report(result, out)
    return OK


def who() -> str:
    """The name of the person at the keyboard, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def pairs(written: list[str], option: str, required: bool) -> dict[str, str] | None:
    """`name=value` texts as a mapping; None, with a message, where one is not.

    Without `required` the name may be missing, and is then empty. What is a path before its first
    `=` (it has a separator or a colon) is no name, but for the key of a site, as `trial/north`.
    """
    found: dict[str, str] = {}
    for text in written:
        name, sign, value = text.partition("=")
        if not sign or (set(name) & set("/\\:") and (required or not _SITE_KEY.fullmatch(name))):
            name, value = "", text
        if (required and not name) or not value or name in found:
            what = "LOCATION" if option in ("--data", "--ledger") else "VALUE"
            say(f"error: `{option} {text}` is not `NAME={what}`, or names something twice")
            if required and not sign:
                say(f"help: write `{option} NAME={text}`")
            return None
        found[name] = value
    return found


def _report(result: RunResult, out: Path | None) -> None:
    if result.mock:
        print("NOT PRIVATE - made from synthetic rows; nothing was read, nothing was charged\n")
    elif result.served is not None:
        print(f"stored on {result.served}; served again, nothing was charged\n")
    print(result, end="")
    if out is not None:
        say(f"wrote {out}/")
        if lacks_plots(result.releases.values()):
            say("no plot was drawn: `pip install 'dpql[plots]'`, then run again: it costs nothing")


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the public name of each step on a terminal; nothing on a pipe."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("examining the plan")
        yield lambda step: bar.update(task, description=step)
