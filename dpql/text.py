"""A plan as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpql.pipeline import Planned
from dpql.release_text import figure
from dpql.report.words import counted_rows, drawn_on, is_known, options, percent_up
from dpql.view import Remaining, plan_json
from grammar.render import render_text
from planner.calculus.exact import number
from planner.calculus.leaves import SEARCH_FACTOR
from planner.number_format import read_as, short_delta, shown

__all__ = ["plan_text", "short"]

_IN_NOISE = frozenset(
    ["noise_law", "noise_scale", "sensitivity", "trace_noise_scale", "trace_sensitivity", "sigma"]
)
"""Figures of a forecast that the lines on noise tell already."""
_SOURCES = {"adp": "declared pairs", "C9": "rho", "C10": "mu", "C11": "the profile of one draw"}


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
        lines += _wrapped("            that is ", cost_parts(paid["total"]))
    lines += _wrapped("  options   ", options(one["params"]))
    for leaf in one["leaves"]:
        place = f" at {leaf['site'] or leaf['dataset']}" if len(one["on"]) > 1 else ""
        role = drawn_on(leaf) if len(one["leaves"]) > len(one["on"]) else ""
        lines.append(f"  noise     {_leaf(leaf)}{role and ','}{role}{place}")
    figures = [
        f"{name} {figure(value)}"
        for name, value in one["forecast"].items()
        if _plain(value) and is_known(name) and name not in _IN_NOISE
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
        person = f"one person ({unit['column']}, {counted_rows(unit['max'])})"
    lines = [
        f"dataset {one['name']}: {one['rows']} rows, protects {person} replaced",
        *_wrapped("  total     ", cost_parts(one["total"])),
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
        lead = f"  site      {site['name']}: {site['rows']} rows, "
        lines += _wrapped(lead, cost_parts(site["total"]))
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
    lines = [f"people {key['key']}: in {names}"]
    lines += _wrapped("  total     ", cost_parts(key["total"]))
    if key["risk"] is not None:
        found = percent_up(key["risk"]["tpr"]["0.01"])
        lines.append(f"  risk      an attack with 1 % of false alarms finds at most {found}")
    return [*lines, ""]


def _expectations(expected: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"expects {one['release']}.{one['metric']} >= {one['at_least']}: "
        f"forecast {figure(one['forecast'])}"
        for one in expected
    ]
    return [*lines, ""] if lines else []


def declared_text(declared: Mapping[str, str]) -> str:
    """A declared cost as it is written in a file."""
    return ", ".join(
        f"{unit}={short(value)}" for unit, value in declared.items() if unit != "mu_squared"
    )


def cost_parts(cost: Mapping[str, Any]) -> list[str]:
    """A cost in every unit in which it may be claimed, rounded up; a pair names its rule.

    A pair whose eps reads as that without a delta says nothing more, and is left out.
    """
    pure = short(cost["eps"]) if cost.get("eps") else None
    parts = [f"{unit}={short(cost[unit])}" for unit in ("eps", "rho", "mu") if cost.get(unit)]
    for pair in cost.get("eps_delta", ()):
        if number(pair["delta"]) > 0 and short(pair["eps"]) != pure:
            at = f"eps={short(pair['eps'])} at delta={short_delta(number(pair['delta']))}"
            parts.append(f"({at}, {rule(pair['by'])})")
    return parts or ["nothing"]


def short(written: str) -> str:
    """An exact number rounded up to five digits where it is longer; the last ones do not count."""
    return written if len(written) <= 8 else read_as(number(written), digits=5)


def rule(by: str) -> str:
    """The bound that gave an eps, in words; `eps+C10` adds one for bounded draws to the others'."""
    if by in ("PLD", "declared"):
        return by if by == "PLD" else "as declared"
    return "from " + " and ".join(_SOURCES.get(part, part) for part in by.split("+"))


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
        unit, most = next(iter(leaf["params"].items()))
        return f"at most {unit}={short(most)}, drawn step by step"
    law = names.get(leaf["kind"], leaf["kind"])
    if leaf["kind"] == "pure" and leaf["width"] > 1:
        law = f"noise in {leaf['width']} dimensions"
    if leaf["kind"] == "pure" and leaf["factor"] == SEARCH_FACTOR:
        law = f"search for the first of {leaf['width']} values above 0, discrete Laplace"
    if leaf["kind"] == "dgauss":
        ratio = shown(number(leaf["scale"]) / number(leaf["sensitivity"]), up=False, digits=5)
        return f"{times}{law} of scale {ratio} times the sensitivity"
    return (
        f"{times}{law} of scale {short(leaf['scale'])} for sensitivity {short(leaf['sensitivity'])}"
    )


def _plain(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


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
