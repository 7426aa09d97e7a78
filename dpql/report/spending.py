"""What a plan costs the people in the data, held against the budgets."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpql.report import words
from dpql.report.document import Block, Items, Meter, Paragraph, Section, Table
from planner.calculus.exact import number

__all__ = ["section", "used_share"]

Json = Mapping[str, Any]

_ADD_UP = (
    "eps and rho add up over all analyses of the same people; of mu the squares add up. Where a "
    "number is rounded here, it is rounded up.",
)


def section(plan: Json) -> Section:
    """Costs by statement, then each dataset's total against its budget and its ledger."""
    blocks: list[Block] = [
        Table(
            "What each result may cost",
            ("Result", "People in", "Cost as written", "The same in other units"),
            tuple(
                (
                    statement["name"],
                    _place(paid),
                    words.declared(paid["declared"]) + (" (`auto`)" if paid["auto"] else ""),
                    words.cost(paid["total"]),
                )
                for statement in plan["statements"]
                for paid in statement["cost"]
            ),
        )
    ]
    for dataset in plan["datasets"]:
        blocks += _dataset(dataset)
    blocks.append(Items(_ADD_UP))
    return Section("cost", "What it costs", tuple(blocks))


def used_share(dataset: Json) -> Fraction | None:
    """The part of a dataset's budget that the plan uses; None where it cannot be said.

    Of eps, rho, mu squared; of an (eps, delta) budget the part of its eps, at its delta.
    """
    budget, total = dataset["budget"], dataset["total"]
    if budget is None:
        return None
    if "delta" in budget:
        spent = [p["eps"] for p in total["eps_delta"] if p["delta"] == budget["delta"]]
        return min(number(one) for one in spent) / number(budget["eps"]) if spent else None
    (unit,) = {"eps", "rho", "mu"} & set(budget)
    written = total["mu_squared" if unit == "mu" else unit]
    if written is None:
        return None
    cap = number(budget.get("mu_squared") or budget[unit])
    if unit == "mu" and "mu_squared" not in budget:
        cap *= cap
    return number(written) / cap


def _place(paid: Json) -> str:
    return str(paid["dataset"]) + (f", site {paid['site']}" if paid["site"] else "")


def _dataset(dataset: Json) -> list[Block]:
    name = dataset["name"]
    if not dataset["spent_by"]:
        return [Paragraph(f"`{name}`: nothing is spent on it.")]
    blocks: list[Block] = [
        Paragraph(f"`{name}`, all results together: {words.cost(dataset['total'])}.")
    ]
    if dataset["total"]["mu_by"] == "PLD":
        blocks.append(Paragraph(_together(dataset["total"])))
    budget, share = dataset["budget"], used_share(dataset)
    if budget is None:
        blocks.append(
            Paragraph(f"The file sets no budget for `{name}`; only the ledger limits it.")
        )
    elif share is None:
        blocks.append(Paragraph(f"The plan fits the budget of `{name}`, {words.declared(budget)}."))
    else:
        used = words.percent_up(float(share))
        what = " (of its square, which is what adds up)" if "mu" in budget else ""
        blocks.append(
            Meter(
                f"Budget of `{name}`: {words.declared(budget)}",
                min(1.0, float(share)),
                f"{used} is used{what}",
                ("nothing", "all of it"),
            )
        )
    left = [(name, dataset["remaining"])]
    left += [(f"{name}, site {site['name']}", site["remaining"]) for site in dataset["sites"]]
    if all(amount is None for _, amount in left):
        blocks.append(
            Paragraph(
                f"The ledger of `{name}` was not asked for this sheet. It refuses the run if too "
                "little is left."
            )
        )
    blocks += [
        Paragraph(f"Left in the ledger of `{place}` before this plan: {amount}.")
        for place, amount in left
        if amount is not None
    ]
    if dataset["sites"]:
        blocks.append(
            Paragraph(
                "Costs at different sites are not added up for a person, who is at no more of them "
                "than the plan says: the total is that of the dearest."
            )
        )
        blocks.append(
            Table(
                f"`{name}` lies at several sites; each pays from its own ledger",
                ("Site", "Rows", "What is released there costs its people"),
                tuple(
                    (site["name"], f"{site['rows']:,}", words.cost(site["total"]))
                    for site in dataset["sites"]
                ),
            )
        )
    return blocks


def _together(total: Json) -> str:
    """Why the whole costs less than its parts."""
    mu, parts = words.amount(total["mu"]), words.amount(total["mu_of_parts"])
    return (
        f"Together the results cost mu = {mu}, by joint composition (PLD): less than the "
        f"mu = {parts} to which the squares of their own costs add up. Bounded noise costs most "
        "where one looks at it alone; beside the noise of the other results much of that is "
        "hidden. The saving belongs to the plan as a whole, which is fixed before any row is read "
        "and publishes nothing before its last draw."
    )
