"""`dpql check`: findings of files, in four forms."""

from __future__ import annotations

import sys
from pathlib import Path

from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.pipeline import check_source, read_source
from grammar.diagnostics import Diagnostic, has_errors
from grammar.render import render
from grammar.source import Source

__all__ = ["FORMATS", "run"]

FORMATS = ("text", "json", "sarif", "github")


def run(files: list[Path], format: str, policy: Path | None) -> int:
    """Check every file; 0 if none has an error, 1 otherwise, 2 for a wrong call."""
    if format not in FORMATS:
        say(f"error: `--format {format}` is not one of {', '.join(FORMATS)}")
        return USAGE
    found: list[tuple[Source, tuple[Diagnostic, ...]]] = []
    for path in files:
        read = read_source(path)
        if isinstance(read, tuple):
            found.append((read[0], (read[1],)))
            continue
        checked = check_source(read)
        diagnostics = checked.diagnostics
        if policy is not None and checked.plan is not None:
            from dpql.policy import judge

            diagnostics += judge(checked.plan, policy)
        found.append((read, diagnostics))
    print(render(found, format, colour=sys.stdout.isatty()), end="")
    failed = any(has_errors(diagnostics) for _, diagnostics in found)
    return FINDINGS if failed else OK
