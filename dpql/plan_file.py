"""Plan files: written by `dpql plan`, read by everyone who trusts its body only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dpql.derivation import require
from dpql.errors import PlanRefused
from dpql.json_file import parse_object, read_object
from dpql.pipeline import plan_source, read_source
from dpql.schemas.body import Body
from executors.registry import REGISTRY
from grammar.characters import hidden
from grammar.render import render_text
from grammar.source import Source
from planner.decode import PlanError, RunnablePlan, decode
from planner.encode import canonical
from planner.planned import Plan

__all__ = ["PlanFile", "of_mapping", "of_plan", "plan_in", "read_plan", "runnable"]


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan's body with its hash recomputed, and the certificate that came with it.

    `locations` are where the author says that the data lies (FROM); a location given at run time
    wins, and a ledger key that does not guard the place refuses it.
    """

    body: Mapping[str, Any]
    hash: str
    certificate: Mapping[str, Any]
    locations: Mapping[str, str] = field(default_factory=dict)


def read_plan(path: str | Path) -> PlanFile:
    """The plan in a plan file, or of a query file, which is planned first; `-` is standard input.

    Raises `PlanRefused` where the file is neither, where the query has errors, or where a plan
    file says another hash than its body has.
    """
    path = Path(path)
    if path.suffix == ".json":
        return of_mapping(read_object(path, "a plan file"), f"`{path}`")
    source, unreadable = read_source(path)
    if unreadable is not None:
        raise PlanRefused(unreadable.message, code=unreadable.code, help=unreadable.help)
    given = plan_in(source)
    if given is not None:
        return given
    planned = plan_source(source)
    if planned.plan is None:
        text = render_text([(source, planned.diagnostics)])
        raise PlanRefused(f"`{path}` has errors\n{text}")
    return of_plan(planned.plan)


def plan_in(source: Source) -> PlanFile | None:
    """The plan file that a text is, by its first character; None for the text of a query."""
    if not source.text.lstrip().startswith("{"):
        return None
    name = f"`{source.name}`"
    return of_mapping(parse_object(source.text, f"{name} is not a plan file"), name)


def of_plan(plan: Plan) -> PlanFile:
    """The file's content of a plan that was just made."""
    bound = plan.checked.bound
    places = {one.name: one.uri for one in bound.datasets if one.uri is not None}
    return PlanFile(plan.body, plan.hash, plan.certificate, places)


def runnable(file: PlanFile) -> RunnablePlan:
    """The plan as it is run, once its noise was derived again from its own declarations.

    Raises `PlanRefused` where the body is no plan of this installation, or where its noise is not
    what its bounds, options and costs lead to: a signature or a charge must not rest on either.
    """
    try:
        plan = decode(file.body, REGISTRY)
    except PlanError as failure:
        raise PlanRefused(str(failure), help="plan the query anew") from failure
    require(plan)
    return plan


def of_mapping(content: Mapping[str, Any], name: str) -> PlanFile:
    """The plan in a plan file that was read already."""
    body = content.get("body")
    if not isinstance(body, Mapping):
        raise PlanRefused(
            f"{name} holds no plan",
            note="a plan has a body; a query with errors has none",
            help="write one with `dpql plan FILE -o plan.json`, or make it with `dpql.plan`",
        )
    try:
        hashed = canonical(body)
    except (ValueError, TypeError, RecursionError) as failure:
        raise _malformed(name) from failure
    found = sha256(hashed).hexdigest()
    if content.get("plan_hash") != found:
        raise PlanRefused(
            f"the body of {name} is not what its hash was made of",
            note="somebody changed the plan after it was made, or the hash",
            help="plan the query anew; what was approved is the hash",
        )
    _require_shape(body, hashed.decode(), name)
    certificate = content.get("certificate")
    return PlanFile(
        body, found, certificate if isinstance(certificate, dict) else {}, _places(content)
    )


def _require_shape(body: Mapping[str, Any], text: str, name: str) -> None:
    """Raise `PlanRefused` unless a body is of the published shape, with no hidden character.

    Its hash alone is not enough: 3000.0 is hashed as 3000. A query holds no hidden character.
    """
    try:
        Body.model_validate(body)
    except ValidationError as failure:
        place = failure.errors(include_url=False, include_input=False)[0]["loc"]
        raise _malformed(name, ".".join(str(part) for part in place)) from failure
    except RecursionError as failure:
        raise _malformed(name) from failure
    if next(iter(hidden(text)), None) is not None:
        raise PlanRefused(
            f"the body of {name} holds invisible or direction-changing characters",
            help="plan the query anew",
        )


def _malformed(name: str, place: str = "") -> PlanRefused:
    return PlanRefused(
        f"the body of {name} is not well formed",
        note=f"`{place}` is not as `dpql plan` writes it" if place else "",
        help="plan the query anew",
    )


def _places(content: Mapping[str, Any]) -> dict[str, str]:
    datasets = content.get("datasets")
    places = {}
    for one in datasets if isinstance(datasets, list) else []:
        if isinstance(one, dict) and isinstance(one.get("location"), str):
            places[str(one.get("name"))] = one["location"]
    return places
