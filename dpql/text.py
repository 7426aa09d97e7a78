"""A plan and its releases as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpql.pipeline import Planned
from dpql.report.words import percent_up
from dpql.view import Remaining, plan_json
from grammar.render import render_text
from planner.calculus.exact import number
from planner.calculus.leaves import SEARCH_FACTOR
from planner.number_format import read_as

__all__ = ["cost_text", "plan_text", "releases_text", "short"]


_FIRST = (
    "statistic",
    "p_value",
    "reject",
    "level",
    "columns",
    "kind",
    "matrix",
    "mean",
    "selected",
)


def plan_text(planned: Planned, remaining: Remaining | None = None) -> str:
    """Findings, then what is spent, on whom, for what, and how good it will be."""
    findings = render_text([(planned.source, planned.diagnostics)])
    if planned.plan is None:
        return findings
    content = plan_json(planned, remaining)
    lines = [f"plan {content['plan_hash']}", ""]
    for statement in content["statements"]:
        lines += _statement(statement)
    for dataset, declared in zip(content["datasets"], content["body"]["datasets"], strict=True):
        lines += _dataset(dataset, declared, content["risk"].get(dataset["name"]))
    for key in content["keys"]:
        lines += _shared(key)
    lines += _expectations(content["expect"])
    lines.append("no row was read to make this plan")
    text = "\n".join(lines) + "\n"
    return f"{findings}\n{text}" if planned.diagnostics else text


def _statement(one: Mapping[str, Any]) -> list[str]:
    title = f"{one['name']}: {one['verb']} {one['method']}"
    lines = [title, "-" * len(title)]
    for paid in one["cost"]:
        place = paid["dataset"] + (f", site {paid['site']}" if paid["site"] else "")
        found = ", the least that meets its EXPECT," if paid["auto"] else ""
        lines.append(f"  costs     {declared_text(paid['declared'])}{found} on {place}")
        lines.append(f"            that is {cost_text(paid['total'])}")
    for leaf in one["leaves"]:
        place = f" at {leaf['site'] or leaf['dataset']}" if len(one["on"]) > 1 else ""
        lines.append(f"  noise     {_leaf(leaf)}{place}")
    figures = [
        f"{name} {_figure(value)}" for name, value in one["forecast"].items() if _plain(value)
    ]
    if figures:
        lines += _wrapped("  forecast  ", figures)
    lines += _wrapped("  releases  ", "; ".join(one["releases"]).split(" "), " ")
    lead = "  assumes   "
    for sentence in one["assumptions"]:
        lines += _wrapped(lead, sentence.split(" "), " ")
        lead = "            "
    lines.append("")
    return lines


def _dataset(
    one: Mapping[str, Any], declared: Mapping[str, Any], risk: Mapping[str, Any] | None
) -> list[str]:
    unit = one["unit"]
    if any(column["type"] == "log_evalue" for column in declared["columns"]):
        person = "one person of the study behind the table"
    elif unit["column"] is None:
        person = "one record"
    else:
        person = f"one person ({unit['column']}, up to {unit['max']} rows)"
    lines = [
        f"dataset {one['name']}: {one['rows']} rows, protects {person} replaced",
        f"  total     {cost_text(one['total'])}",
    ]
    total = one["total"]
    if total["mu_by"] == "PLD":
        lines += [
            f"  together  mu={short(total['mu'])}, by joint composition (PLD) of the whole plan;",
            f"            the costs of its statements add up to mu={short(total['mu_of_parts'])}",
        ]
    if risk is not None:
        found = percent_up(risk["tpr"]["0.01"])
        lines.append(f"  risk      an attack with 1 % of false alarms finds at most {found}")
    if one["budget"] is not None:
        lines.append(f"  budget    {declared_text(one['budget'])}: the plan fits")
    for site in one["sites"]:
        lines.append(f"  site      {site['name']}: {site['rows']} rows, {cost_text(site['total'])}")
    left = [("", one["remaining"]), *((f"{s['name']}: ", s["remaining"]) for s in one["sites"])]
    told = [f"  ledger    {place}{amount} left" for place, amount in left if amount is not None]
    lines += told or ["  ledger    not asked: facts asserted by the author"]
    lines.append("")
    return lines


def _shared(key: Mapping[str, Any]) -> list[str]:
    """What several datasets cost the people that they share."""
    if len(key["datasets"]) < 2 or key["total"] is None:
        return []
    names = ", ".join(key["datasets"])
    lines = [f"people {key['key']}: in {names}", f"  total     {cost_text(key['total'])}"]
    if key["risk"] is not None:
        found = percent_up(key["risk"]["tpr"]["0.01"])
        lines.append(f"  risk      an attack with 1 % of false alarms finds at most {found}")
    return [*lines, ""]


def _expectations(expected: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"expects {one['release']}.{one['metric']} >= {one['at_least']}: "
        f"forecast {_figure(one['forecast'])}"
        for one in expected
    ]
    return [*lines, ""] if lines else []


def declared_text(declared: Mapping[str, str]) -> str:
    """A declared cost as it is written in a file."""
    return ", ".join(
        f"{unit}={short(value)}" for unit, value in declared.items() if unit != "mu_squared"
    )


def cost_text(cost: Mapping[str, Any]) -> str:
    """A cost in every unit in which it may be claimed, rounded up; a pair names its rule."""
    parts = [f"{unit}={short(cost[unit])}" for unit in ("eps", "rho", "mu") if cost.get(unit)]
    for pair in cost.get("eps_delta", ()):
        if number(pair["delta"]) > 0:
            at = f"eps={short(pair['eps'])} at delta={_delta(pair['delta'])}"
            parts.append(f"({at} by {pair['by']})")
    return ", ".join(parts) or "nothing"


def short(written: str) -> str:
    """An exact number rounded up to five digits where it is longer; the last ones do not count."""
    return written if len(written) <= 8 else read_as(number(written), digits=5)


def _delta(written: str) -> str:
    value: Fraction = number(written)
    return f"{float(value):.3g}"


def _leaf(leaf: Mapping[str, Any]) -> str:
    names = {
        "lap": "Laplace",
        "gauss": "Gaussian",
        "dgauss": "discrete Gaussian",
        "br": "Gumbel selection",
        "pure": "bounded",
    }
    times = f"{leaf['count']} x " if leaf["count"] > 1 else ""
    if leaf["scale"] is None:
        return f"at most {leaf['kind']} {next(iter(leaf['params'].values()))}, drawn step by step"
    law = names.get(leaf["kind"], leaf["kind"])
    if leaf["kind"] == "pure" and leaf["width"] > 1:
        law = f"noise in {leaf['width']} dimensions"
    if leaf["kind"] == "pure" and leaf["factor"] == SEARCH_FACTOR:
        law = f"search for the first of {leaf['width']} values above 0, discrete Laplace"
    steps = " grid steps" if leaf["kind"] == "dgauss" else ""
    return (
        f"{times}{law} of scale {short(leaf['scale'])}{steps} "
        f"for sensitivity {short(leaf['sensitivity'])}{steps}"
    )


def _plain(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _figure(value: Any, digits: int = 4) -> str:
    """A number in a few digits, a text as it is, NA for what is missing."""
    if value is None:
        return "NA"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _wrapped(lead: str, parts: Sequence[str], joint: str = ", ", width: int = 96) -> list[str]:
    lines: list[str] = []
    current = lead
    for index, part in enumerate(parts):
        piece = part if index == len(parts) - 1 else part + joint
        if len(current) + len(piece) > width and current.strip() != lead.strip():
            lines.append(current.rstrip())
            current = " " * len(lead)
        current += piece
    return [*lines, current.rstrip()]


def releases_text(releases: Sequence[Mapping[str, Any]]) -> str:
    """The releases of a run, each with its few most wanted figures."""
    lines: list[str] = []
    for release in releases:
        kind = release.get("verb")
        title = f"{kind} {release['method']}" if kind else f"{release.get('function')}"
        lines.append(f"{release['name']}: {title}")
        for name in _ordered(release["value"]):
            lines += _value(name, release["value"][name])
        lines.append("")
    return "\n".join(lines)


def _ordered(value: Mapping[str, Any]) -> list[str]:
    """The names of a value, the most wanted first; a matrix before its projection is left out."""
    names = [name for name in _FIRST if name in value]
    return names + sorted(set(value) - set(names) - {"raw", "measurements"})


def _value(name: str, value: Any) -> list[str]:
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        rows = ["    " + "  ".join(f"{_figure(cell, 6):>12}" for cell in row) for row in value[:12]]
        more = [f"    ... {len(value) - 12} more rows in the file"] if len(value) > 12 else []
        return [f"  {name}", *rows, *more]
    if isinstance(value, list):
        shown_items = ", ".join(
            _figure(item) for item in value[:8] if not isinstance(item, dict | list)
        )
        more_items = f", ... ({len(value)} in the file)" if len(value) > 8 else ""
        return [f"  {name}  {shown_items}{more_items}"] if shown_items else []
    if isinstance(value, Mapping) or value is None:
        return []
    return [f"  {name}  {_figure(value)}"]
