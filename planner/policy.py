"""A custodian's POLICY held against a checked plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from grammar import tree
from grammar.diagnostics import Diagnostic
from grammar.source import Source
from planner.bind import costs
from planner.bind.scope import Scope
from planner.bind.shapes import shapes_of
from planner.calculus.cost import Cost
from planner.calculus.exact import text
from planner.charges import charge_of, is_within, pair_of
from planner.checked import CheckedPlan, Price
from planner.findings import Findings, Mistake
from planner.number_format import shown
from planner.values import positive_integer

__all__ = ["judge_policy"]


def judge_policy(
    checked: CheckedPlan, policies: Sequence[tree.Policy], source: Source
) -> tuple[Diagnostic, ...]:
    """Every breach of a clause, at the statement that breaks it; the message quotes the clause.

    `source` is the policy file's text. A clause that cannot be judged from a plan alone is an
    error too: it would otherwise pass in silence.
    """
    findings = Findings()
    for policy in policies:
        if not any(d.name == policy.dataset.text for d in checked.bound.datasets):
            continue
        prices = checked.prices_of(policy.dataset.text)
        for clause in policy.clauses:
            said = " ".join(source.text[clause.span.start : clause.span.end].split())
            try:
                _clause(clause, said, prices, findings)
            except Mistake as mistake:
                findings.error(
                    "DPQL-E074",
                    f"the policy's clause `{said}` cannot be read: {mistake.finding.message}",
                )
    return tuple(findings.items)


def _clause(
    clause: tree.PolicyClause, said: str, prices: tuple[Price, ...], findings: Findings
) -> None:
    scope = Scope(Findings())
    match clause:
        case tree.Allow(entries=entries):
            _allowed(entries, said, prices, findings)
        case tree.Forbid(columns=columns):
            _forbidden({name.text for name in columns}, said, prices, findings)
        case tree.Cap(days=None, analyst=None):
            mine = prices
            if clause.columns is not None:
                names = {name.text for name in clause.columns}
                mine = tuple(price for price in prices if names & _columns(price))
            _capped(costs.amount(clause.amount, scope), said, mine, findings)
        case tree.Cap():
            findings.error(
                "DPQL-E074",
                f"this version cannot judge the policy's clause `{said}`",
                note="it depends on what was spent before, by whom and when",
                help="ask the custodian for a CAP without PER and FOR ANALYST",
            )
        case tree.Require(number=number, when=when):
            wanted = positive_integer(number, {}, "the number of approvals")
            if when is None or _exceeds(prices, costs.amount(when, scope)):
                findings.remark(
                    "DPQL-W230", f"the policy wants {wanted} approvals of this plan: `{said}`"
                )


def _allowed(
    entries: Iterable[tuple[tree.Name, tree.Name | None]],
    said: str,
    prices: tuple[Price, ...],
    findings: Findings,
) -> None:
    allowed = {
        (verb.text.upper(), None if method is None else method.text.casefold())
        for verb, method in entries
    }
    for price in prices:
        mechanism = price.measurement.mechanism
        if not allowed & {(mechanism.verb, None), (mechanism.verb, mechanism.method)}:
            findings.error(
                "DPQL-E073",
                f"the policy does not allow {mechanism.verb} {mechanism.method}: `{said}`",
                price.measurement.span,
            )


def _columns(price: Price) -> set[str]:
    """What a statement reads where this is paid: its COLUMNS, its roles, what options name."""
    facts, params = price.measurement.facts, price.measurement.params
    wanted = price.measurement.mechanism.roles
    roles = {column.name for role in wanted for column in price.paid.source.role(role)}
    named = {column.name for column in facts.columns} | roles
    for option, shape in shapes_of(type(params)).items():
        value = getattr(params, option)
        if shape.column and isinstance(value, str):
            named.add(value)
        elif shape.item is not None and shape.item.column and isinstance(value, tuple):
            named.update(value)
    return named


def _forbidden(columns: set[str], said: str, prices: tuple[Price, ...], findings: Findings) -> None:
    for price in prices:
        used = sorted(columns & _columns(price))
        if used:
            findings.error(
                "DPQL-E073",
                f"the policy forbids column `{used[0]}`: `{said}`",
                price.measurement.place("columns"),
            )


def _spent(prices: tuple[Price, ...], cap: Cost) -> Fraction | None:
    prices = tuple(price for price in prices if price.has_verdict(cap.unit))
    if cap.unit != "eps_delta":
        charge = charge_of(prices, cap.unit)
        return None if charge is None else charge.amount
    bound = pair_of(prices, cap.delta)
    return None if bound is None else bound.eps


def _exceeds(prices: tuple[Price, ...], cap: Cost) -> bool:
    if not prices:
        return False
    if cap.unit != "eps_delta":
        known = (price for price in prices if price.has_verdict(cap.unit))
        return not is_within(known, cap.unit, cap.additive)
    spent = _spent(prices, cap)
    return spent is None or spent > cap.amount


def _capped(cap: Cost, said: str, prices: tuple[Price, ...], findings: Findings) -> None:
    if not _exceeds(prices, cap):
        return
    spent = _spent(prices, cap)
    unit = "eps" if cap.unit == "eps_delta" else "mu squared" if cap.unit == "mu" else cap.unit
    where = f" at delta={text(cap.delta)}" if cap.unit == "eps_delta" else ""
    much = f"no finite {unit}" if spent is None else f"{unit} {shown(spent)}"
    findings.error(
        "DPQL-E073",
        f"the plan spends {much}{where}, above the policy's clause `{said}`",
        prices[-1].paid.span,
        help="lower the costs, or ask the custodian",
    )
