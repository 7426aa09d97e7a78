"""`dpql report`: the review sheet of a plan or a query, for a board."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.output import write_text
from dpql.pipeline import Planned, plan_source, read_source
from dpql.plan_file import plan_in, read_plan
from grammar.render import render_text

__all__ = ["FORMATS", "run"]

FORMATS = ("html", "md", "json")


def run(file: Path, output: Path | None, format: str) -> int:
    """Write the sheet to `output`, or print it; 1, with the findings, for a plan with errors.

    Of a plan file only the body is believed, and only if its hash is the one that the file says:
    all else is computed again.
    """
    if format not in FORMATS:
        say(f"error: `--format {format}` is not one of {', '.join(FORMATS)}")
        return USAGE
    planned = _planned(file)
    if planned.plan is None:
        say(render_text([(planned.source, planned.diagnostics)]).rstrip())
        return FINDINGS
    text = _text(planned, format)
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)
        say(f"wrote {output}")
    return OK


def _planned(file: Path) -> Planned:
    from dpql.report import proof
    from dpql.report.rebuild import rebuild

    if file.suffix == ".json":
        plan = read_plan(file)
    else:
        source, finding = read_source(file)
        if finding is not None:
            return Planned(source, (finding,), None, None)
        given = plan_in(source)
        if given is None:
            return plan_source(source)
        plan = given
    proof.require(plan.certificate, plan.body)
    return rebuild(plan)


def _text(planned: Planned, format: str) -> str:
    from dpql.report.sheet import sheet_of
    from dpql.view import plan_json

    made = sheet_of(plan_json(planned))
    if format == "json":
        content: dict[str, Any] = made.json()
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if format == "md":
        from dpql.report.markdown import sheet as markdown

        return markdown(made)
    from dpql.report.html import sheet as page

    return page(made)
