"""`dpql ledger`: open, show, verify, release, export."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dpql.commands.run import pairs, who
from dpql.errors import UsageError
from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.ledger import Ledger
from dpql.ledger.facts import (
    Cap,
    KeyFacts,
    Reviewer,
    SensitivityFact,
    SiteFact,
    TableFacts,
)
from dpql.output import write_json
from planner.calculus.exact import number, text
from planner.calculus.profiles import gdp_mu

__all__ = ["cap_of", "export", "open_key", "release", "show", "verify"]


def open_key(
    *,
    name: str,
    url: str,
    rows: int,
    cap: str,
    data: list[str],
    unit: str | None,
    max_rows: int,
    population: bool,
    sites: list[str],
    max_sites: int,
    sensitivity: list[str],
    required: int,
    reviewers: list[str],
    actor: str | None,
) -> int:
    """Record a key, make the ledger where there is none, print the balance."""
    listed = pairs(sites, "--sites", required=True)
    asserted = pairs(sensitivity, "--sensitivity", required=True)
    people = pairs(reviewers, "--reviewer", required=True)
    if listed is None or asserted is None or people is None:
        return USAGE
    try:
        facts = KeyFacts(
            population=name if population else None,
            tables=(
                TableFacts(
                    dataset=name,
                    rows=rows,
                    unit_column=unit,
                    max_rows=max_rows,
                    sites=tuple(
                        SiteFact(name=site, rows=int(count)) for site, count in listed.items()
                    ),
                    max_sites=max_sites,
                    sensitivities=tuple(
                        SensitivityFact(column=column, sensitivity=value)
                        for column, value in asserted.items()
                    ),
                    data=tuple(data),
                ),
            ),
            cap=cap_of(cap),
            reviewers=tuple(
                Reviewer(name=person, public_key=public) for person, public in people.items()
            ),
            required=required,
        )
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"the facts cannot be recorded: {where}: {first['msg']}") from failure
    except ValueError as failure:
        raise UsageError(f"the facts cannot be recorded: {failure}") from failure
    ledger = Ledger.connect(url, create=True)
    try:
        balance = ledger.open_key(facts, actor=actor or who())
    finally:
        ledger.close()
    print(f"opened `{balance.key}` with {_cap_text(facts.cap)}")
    if required:
        print(f"every run needs {required} of: {', '.join(people)}")
    if not data:
        say("note: the key guards no location yet: add `--data` so that only that data can be used")
    return OK


def cap_of(written: str) -> Cap:
    """A cap such as `rho=1`, `mu=0.5`, `eps=3` or `eps=3,delta=1e-6`.

    A pair of eps and delta is compiled to mu once, rounded down. Raises `UsageError`.
    """
    parts: dict[str, Fraction] = {}
    for part in written.split(","):
        unit, sign, value = part.strip().partition("=")
        unit = unit.strip().lower()
        if not sign or unit not in ("eps", "delta", "rho", "mu") or unit in parts:
            raise UsageError(f"`{written}` is no cap", help="write `rho=1` or `eps=3,delta=1e-6`")
        parts[unit] = _positive(value.strip(), written)
    declared = tuple((unit, text(value)) for unit, value in parts.items())
    if set(parts) == {"eps", "delta"}:
        mu = gdp_mu(parts["eps"], parts["delta"])
        return Cap(unit="mu2", amount=text(mu**2), declared=declared)  # type: ignore[arg-type]
    if len(parts) != 1 or "delta" in parts:
        raise UsageError(f"`{written}` is no cap", help="one unit: eps, rho, mu, or eps with delta")
    ((single, amount),) = parts.items()
    if single == "mu":
        return Cap(unit="mu2", amount=text(amount**2), declared=declared)  # type: ignore[arg-type]
    return Cap(unit=single, amount=text(amount), declared=declared)  # type: ignore[arg-type]


def _positive(written: str, cap: str) -> Fraction:
    base, sign, exponent = written.lower().partition("e")
    try:
        value = number(base)
        if sign:
            power = int(exponent)
            if abs(power) > 30:
                raise ValueError
            value *= Fraction(10) ** power
    except (ValueError, TypeError) as failure:
        raise UsageError(f"`{cap}` is no cap: `{written}` is no number") from failure
    if value <= 0:
        raise UsageError(f"`{cap}` is no cap: it must be positive")
    return value


def _cap_text(cap: Cap) -> str:
    return "cap " + ", ".join(f"{unit}={value}" for unit, value in cap.declared)


def show(url: str, format: str) -> int:
    """Print keys and runs."""
    if format not in ("text", "json"):
        say(f"error: `--format {format}` is not text or json")
        return USAGE
    ledger = Ledger.connect(url)
    try:
        content = ledger.show()
    finally:
        ledger.close()
    print(json.dumps(content, indent=2) if format == "json" else _shown(content))
    return OK


def _shown(content: Mapping[str, Any]) -> str:
    lines = []
    for key in content["keys"]:
        figures = key["shown"]
        lines.append(f"key {key['key']}{' (FROZEN)' if key['frozen'] else ''}")
        lines.append(f"  cap        {figures['cap']}")
        lines.append(f"  spent      {figures['spent']}")
        if number(key["reserved"]) > 0:
            lines.append(f"  reserved   {figures['reserved']}")
        lines.append(f"  remaining  {figures['remaining']}")
        facts = key["facts"]
        if facts["required"]:
            people = ", ".join(reviewer["name"] for reviewer in facts["reviewers"])
            lines.append(f"  approvals  {facts['required']} of {people}")
        for table in facts["tables"]:
            places = ", ".join(table["data"]) or "no location"
            lines.append(f"  guards     {table['dataset']}, {table['rows']} rows: {places}")
    lines.append("runs" if content["runs"] else "no runs")
    for one in content["runs"]:
        lines.append(
            f"  {one['rid'][:12]}  {one['key']}  plan {one['plan_hash'][:12]}  {one['state']:8}  "
            f"{one['shown']}  {one['since']}"
        )
    head = content["head"]
    lines.append(f"head {head['seq']} {head['hash'][:16]}")
    return "\n".join(lines)


def verify(url: str, head: Path | None) -> int:
    """Print every finding; 1 where there is one."""
    anchor = None if head is None else json.loads(head.read_bytes())
    if isinstance(anchor, dict) and isinstance(anchor.get("head"), dict):
        anchor = anchor["head"]
    ledger = Ledger.connect(url)
    try:
        findings = ledger.verify(anchor)
        last = ledger.head()
    finally:
        ledger.close()
    for finding in findings:
        say(f"error[DPQL-E086]: {finding}")
    if findings:
        return FINDINGS
    print(f"the record is whole: {last['seq']} entries, head {last['hash'][:16]}")
    return OK


def release(rid: str, url: str, actor: str | None) -> int:
    """Give back a reservation that was never started."""
    ledger = Ledger.connect(url)
    try:
        full = _full(ledger, rid)
        ledger.release(full, actor=actor or who())
    finally:
        ledger.close()
    print(f"released {full[:12]}")
    return OK


def _full(ledger: Ledger, rid: str) -> str:
    """The run whose name begins so, where there is just one."""
    found = {one["rid"] for one in ledger.show()["runs"] if one["rid"].startswith(rid)}
    if len(rid) >= 6 and len(found) == 1:
        return str(found.pop())
    return rid


def export(url: str, output: Path | None) -> int:
    """Write the chain with its head."""
    ledger = Ledger.connect(url)
    try:
        content = ledger.export()
    finally:
        ledger.close()
    if output is None:
        print(json.dumps(content, indent=2))
    else:
        write_json(output, content)
        say(f"wrote {output}")
    return OK
