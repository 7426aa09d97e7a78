"""A plan as a review sheet, with a verdict on top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpql.report import leaving, proof, protection, spending, trust, words
from dpql.report.document import Sheet

__all__ = ["sheet_of"]

Json = Mapping[str, Any]


def sheet_of(plan: Json) -> Sheet:
    """The sheet of a plan without errors, from the JSON that `dpql.view.plan_json` makes.

    Every number on it is one of the plan's. Raises ValueError for a plan with errors, and
    `CertificateRefused` where the independent checker does not accept its certificate.
    """
    if plan.get("body") is None or not plan["ok"]:
        raise ValueError("a query with errors has no review sheet")
    proof.require(plan["certificate"], plan["body"])
    study = trust.study(plan)
    return Sheet(
        title=str(plan["body"]["study"].get("title") or "What leaves, and what it costs"),
        verdict=_verdict(plan),
        cautions=_cautions(plan),
        sections=(
            *((study,) if study else ()),
            protection.section(plan),
            spending.section(plan),
            leaving.releases(plan),
            leaving.quality(plan),
            trust.assumed(plan),
            trust.limits(),
            trust.record(plan),
        ),
        plan_hash=plan["plan_hash"],
    )


def _verdict(plan: Json) -> str:
    """One sentence: how much leaves, what an attacker gains at most, whether it fits."""
    paying = [dataset for dataset in plan["datasets"] if dataset["spent_by"]]
    if not paying:
        return "This plan releases nothing and costs nothing."
    results = words.counted(len(plan["statements"]), "result")
    names = " and ".join(f"`{dataset['name']}`" for dataset in paying)
    guesses = [protection.right_guesses(plan["risk"].get(dataset["name"])) for dataset in paying]
    guesses += [
        protection.right_guesses(key["risk"])
        for key in plan["keys"]
        if len(key.get("datasets", ())) > 1 and key["total"] is not None
    ]
    known = [guess for guess in guesses if guess is not None]
    if known and None not in guesses:
        tables = words.tables_of_hypotheses(plan["body"])
        has_people = any(d["unit"]["column"] or d["name"] in tables for d in paying)
        target = "person" if has_people else "record"
        use = "it" if len(plan["statements"]) == 1 else "them"
        gain = (
            "; an attacker who knows the data of everybody else can use "
            f"{use} to tell two versions of one {target}'s data apart with a chance of at most "
            f"{words.in_hundred(max(known))}, where tossing a coin has 50"
        )
    else:
        gain = "; how much they reveal about one person is stated below as a cost only"
    leave = "leaves" if len(plan["statements"]) == 1 else "leave"
    return f"{_capital(results)} {leave} {names}{gain}; {_fit(paying)}."


def _fit(paying: list[Json]) -> str:
    shares = [spending.used_share(dataset) for dataset in paying]
    if all(dataset["budget"] is None for dataset in paying):
        return "the file sets no budget of its own"
    known = [share for share in shares if share is not None]
    if any(dataset["budget"] is None for dataset in paying) or len(known) != len(paying):
        return "the budgets that the file sets are kept"
    most = words.percent_up(float(max(known)))
    return f"{most} of the budget {'is' if len(paying) == 1 else '(at most)'} used"


def _cautions(plan: Json) -> tuple[str, ...]:
    """What a reader should not overlook, most important first."""
    said = [
        f"{_capital(finding['message'])}."
        + (f" {_capital(finding['note'])}." if finding["note"] else "")
        for finding in plan["diagnostics"]
        if finding["severity"] == "warning"
    ]
    paying = [dataset for dataset in plan["datasets"] if dataset["spent_by"]]
    said += [
        f"The file sets no budget for `{dataset['name']}`."
        for dataset in paying
        if dataset["budget"] is None
    ]
    unasked = " and ".join(f"`{d['name']}`" for d in paying if d["remaining"] is None)
    if unasked:
        said.append(
            f"No ledger was asked: what was spent on {unasked} before, and whether the facts are "
            "as the custodian recorded them, is not known here."
        )
    said += [
        f"`{column['name']}` of `{dataset['name']}`: its sensitivity is asserted by "
        f"{column['asserted_by']}, and the guarantee rests on it."
        for dataset in plan["body"]["datasets"]
        for column in dataset["columns"]
        if column["sensitivity"] is not None
    ]
    return tuple(dict.fromkeys(said))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
