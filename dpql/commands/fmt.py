"""`dpql fmt`: one layout for query files."""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from pathlib import Path

from dpql.failing import FINDINGS, OK, say
from dpql.pipeline import read_source
from grammar.diagnostics import has_errors
from grammar.parser import parse
from grammar.printer import print_script
from grammar.render import render_text

__all__ = ["run"]


def run(files: list[Path], check: bool, diff: bool) -> int:
    """Format files in place (standard input to standard output); files with errors stay as is."""
    status = OK
    for path in files:
        source, unreadable = read_source(path)
        if unreadable is not None:
            print(render_text([(source, (unreadable,))]), end="", file=sys.stderr)
            status = FINDINGS
            continue
        script, findings = parse(source)
        if has_errors(findings):
            print(render_text([(source, findings)]), end="", file=sys.stderr)
            status = FINDINGS
            continue
        text = print_script(script)
        if str(path) == "-" and not (check or diff):
            print(text, end="")
            continue
        if text == source.text:
            continue
        if diff:
            print(_difference(str(path), source.text, text), end="")
        if check or diff:
            if check:
                say(f"would format {path}")
                status = FINDINGS
            continue
        _replace(path, text)
        say(f"formatted {path}")
    return status


def _difference(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _replace(path: Path, text: str) -> None:
    """Write beside the file and rename, so that a crash leaves the old text or the new one."""
    target = path.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
