"""`dpql plan`: everything that is known before a row is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.pipeline import Planned, plan_source, read_source
from grammar.diagnostics import Diagnostic, has_errors
from grammar.render import render_text

__all__ = ["FORMATS", "run"]

FORMATS = ("text", "json", "dot", "mermaid", "html")


def run(
    file: Path,
    output: Path | None,
    format: str,
    ledger: str | None,
    policy: Path | None,
    data: list[str],
) -> int:
    """Plan a file, print it, and write the plan file where `output` says so."""
    if format not in FORMATS:
        say(f"error: `--format {format}` is not one of {', '.join(FORMATS)}")
        return USAGE
    source, unreadable = read_source(file)
    if unreadable is not None:
        planned = Planned(source, (unreadable,), None, None)
    else:
        places = _places(data)
        if places is None:
            return USAGE
        planned = plan_source(source, places)
    if policy is not None and planned.checked is not None:
        from dpql.policy import judge

        planned = _with_findings(planned, judge(planned.checked, policy))
    remaining = _remaining(planned, ledger)
    if output is not None and planned.plan is not None:
        _write(output, planned, remaining)
    print(_printed(planned, format, remaining), end="")
    return OK if planned.ok else FINDINGS


def _places(data: list[str]) -> dict[str, str] | None:
    """Where the public tables lie; None, with a message, where a text does not say so."""
    if not data:
        return {}
    from dpql.commands.run import pairs

    return pairs(data, "--data", required=True)


def _with_findings(planned: Planned, more: tuple[Diagnostic, ...]) -> Planned:
    found = planned.diagnostics + more
    return Planned(
        planned.source, found, planned.checked, None if has_errors(found) else planned.plan
    )


def _remaining(planned: Planned, ledger: str | None) -> dict[str, dict[str, Any]] | None:
    if ledger is None or planned.plan is None:
        return None
    from dpql.ledger import Ledger

    opened = Ledger.connect(ledger)
    try:
        known = set(opened.keys())
        found = {}
        for key in planned.plan.checked.by_key():
            if key in known:
                balance = opened.remaining(key).json()
                found[key] = {**balance, "remaining": balance["shown"]["remaining"]}
        return found
    finally:
        opened.close()


def _printed(planned: Planned, format: str, remaining: dict[str, dict[str, Any]] | None) -> str:
    from dpql.view import plan_json

    if format == "json":
        text = json.dumps(plan_json(planned, remaining), indent=2, ensure_ascii=False)
        return text + "\n"
    if planned.plan is None:
        return render_text([(planned.source, planned.diagnostics)])
    if format == "text":
        from dpql.text import plan_text

        return plan_text(planned, remaining)
    if format == "html":
        from dpql.report.html import sheet
        from dpql.report.sheet import sheet_of

        return sheet(sheet_of(plan_json(planned, remaining)))
    from dpql.drawing import dot, mermaid

    graph = planned.plan.checked.graph
    return dot(graph) if format == "dot" else mermaid(graph)


def _write(output: Path, planned: Planned, remaining: dict[str, dict[str, Any]] | None) -> None:
    from dpql.output import write_json
    from dpql.view import plan_json

    write_json(output, plan_json(planned, remaining))
    say(f"wrote {output}")
