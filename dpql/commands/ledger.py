"""`dpql ledger`: open, show, verify, release, export."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dpql.commands.run import pairs, who
from dpql.errors import UsageError
from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.json_file import read_object
from dpql.ledger import Ledger
from dpql.ledger.facts import Cap
from dpql.ledger.opening import key_facts
from dpql.output import write_json
from planner.calculus.cost import Cost
from planner.calculus.exact import number

__all__ = ["cost_of", "export", "open_key", "release", "show", "verify"]


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
    site: str | None,
    sites: list[str],
    max_sites: int,
    sensitivity: list[str],
    hypotheses: list[str],
    public_design: bool,
    required: int,
    reviewers: list[str],
    actor: str | None,
) -> int:
    """Record a key, make the ledger where there is none, print the balance."""
    listed = pairs(sites, "--sites", required=True)
    asserted = pairs(sensitivity, "--sensitivity", required=True)
    people = pairs(reviewers, "--reviewer", required=True)
    patterns = pairs(hypotheses, "--hypotheses", required=True)
    if listed is None or asserted is None or people is None or patterns is None:
        return USAGE
    facts = key_facts(
        name,
        rows,
        cost_of(cap),
        population=population,
        data=data,
        unit=unit,
        max_rows=max_rows,
        site=site,
        sites={name: _count(count) for name, count in listed.items()},
        max_sites=max_sites,
        sensitivities={column: _number(value) for column, value in asserted.items()},
        hypotheses={pattern: _count(count) for pattern, count in patterns.items()},
        public_design=public_design,
        reviewers=people,
        required=required,
    )
    ledger = Ledger.connect(url, create=True)
    try:
        balance = ledger.open_key(facts, actor=actor or who())
    finally:
        ledger.close()
    print(f"opened `{balance.key}` with {_cap_text(facts.cap)}")
    if required:
        print(f"every run needs {required} of: {', '.join(people)}")
    for location in facts.tables[0].data:
        if location.startswith("file:") and not Path(unquote(urlsplit(location).path)).exists():
            say(f"note: there is no file at {location} yet; no other place will do")
    if not data:
        say("note: the key guards no location yet: add `--data` so that only that data can be used")
    return OK


def cost_of(written: str) -> Cost:
    """A cost as in a query file, such as `rho=1`, `mu=0.5` or `eps=3, delta=1e-6`.

    Raises `UsageError`.
    """
    from grammar import tree
    from grammar.parser import parse
    from grammar.source import Source
    from planner.bind.costs import amount
    from planner.bind.scope import Scope
    from planner.findings import Findings, Mistake

    script, findings = parse(Source("--cap", f"DATASET d ROWS 1 BUDGET {written}"))
    clauses = [
        clause
        for statement in script.statements
        if isinstance(statement, tree.Dataset)
        for clause in statement.clauses
        if isinstance(clause, tree.Costs)
    ]
    problem = f"`{written}` is no cap"
    if findings or len(script.statements) != 1 or len(clauses) != 1:
        raise UsageError(problem, help="write `rho=1`, `mu=0.5` or `eps=3, delta=1e-6`")
    try:
        return amount(clauses[0].amounts[0], Scope(Findings()))
    except Mistake as mistake:
        raise UsageError(f"{problem}: {mistake}", help=mistake.finding.help) from mistake


def _count(written: str) -> int:
    value = _number(written)
    if value.denominator != 1 or value < 1:
        raise UsageError(f"`{written}` is no number of rows")
    return int(value)


def _number(written: str) -> Fraction:
    try:
        return number(written)
    except ValueError as failure:
        raise UsageError(f"`{written}` is no number") from failure


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
    anchor = None if head is None else read_object(head, "an exported head")
    if anchor is not None and isinstance(anchor.get("head"), dict):
        anchor = anchor["head"]
    if anchor is not None and not {"seq", "hash"} <= set(anchor):
        raise UsageError(
            f"`{head}` is not an exported head", help="`dpql ledger export` writes one"
        )
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
