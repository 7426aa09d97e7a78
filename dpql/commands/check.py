"""`dpql check`: findings of files, in four forms."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dpql import __version__
from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.pipeline import check_source, read_source
from grammar.diagnostics import Diagnostic, has_errors
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
        source, unreadable = read_source(path)
        if unreadable is not None:
            found.append((source, (unreadable,)))
            continue
        checked = check_source(source)
        diagnostics = checked.diagnostics
        if policy is not None and checked.plan is not None:
            from dpql.policy import judge

            diagnostics += judge(checked.plan, policy)
        found.append((source, diagnostics))
    print(_rendered(found, format), end="")
    failed = any(has_errors(diagnostics) for _, diagnostics in found)
    return FINDINGS if failed else OK


def _rendered(found: list[tuple[Source, tuple[Diagnostic, ...]]], format: str) -> str:
    if format == "text":
        from grammar.render import render_text, uses_color

        return render_text(found, uses_color(sys.stdout.isatty(), os.environ))
    from grammar import exchange

    if format == "sarif":
        return exchange.render_sarif(found, __version__)
    return exchange.render_json(found) if format == "json" else exchange.render_github(found)
