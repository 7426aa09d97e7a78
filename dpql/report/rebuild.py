"""A plan computed anew from the declarations in its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpql.derivation import bound_of, complaints
from dpql.errors import PlanRefused
from dpql.pipeline import Planned
from dpql.plan_file import PlanFile
from executors.registry import REGISTRY
from grammar.diagnostics import has_errors
from planner.certificate import certify
from planner.charges import reservations
from planner.check import check
from planner.decode import PlanError, decode
from planner.encode import canonical
from planner.plan import plan

__all__ = ["rebuild"]


def rebuild(file: PlanFile) -> Planned:
    """The plan that the body's facts, options and costs lead to, with all findings.

    Nothing else of the file is believed: sensitivities, noise scales, totals, forecasts and the
    certificate are computed again. Raises `PlanRefused` where the body is not of this version, or
    where it holds another noise or another column than its own declarations lead to.
    """
    try:
        bound = bound_of(decode(file.body, REGISTRY))
    except PlanError as failure:
        raise PlanRefused(str(failure), help="plan the query anew") from failure
    findings = complaints(bound)
    if has_errors(findings):
        return Planned(bound.source, findings, None, None)
    checked, more = check(bound)
    findings += more
    if has_errors(findings):
        return Planned(bound.source, findings, None, None)
    made, more = plan(checked)
    findings += more
    if made is None:
        return Planned(bound.source, findings, checked, None)
    if canonical(_plain(made.body)) != canonical(_plain(file.body)):
        raise PlanRefused(
            "the body of the plan does not follow from its own declarations",
            note="the noise of a plan is computed from its bounds, options and costs; this one "
            "was changed by hand, or made by another version of the program",
            help="plan the query anew, and let it be reviewed anew",
        )
    certificate = certify(file.body, file.hash, reservations(checked))
    kept = replace(made, body=file.body, hash=file.hash, certificate=certificate)
    return Planned(bound.source, findings, checked, None if has_errors(findings) else kept)


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with every `{"auto": value}` of an option replaced by its value.

    Once an `auto` was replaced nothing tells it from a value that was written.
    """
    return {
        **body,
        "statements": [
            {**one, "params": {name: _chosen(value) for name, value in one["params"].items()}}
            for one in body["statements"]
        ],
    }


def _chosen(value: Any) -> Any:
    return value["auto"] if isinstance(value, dict) and set(value) == {"auto"} else value
