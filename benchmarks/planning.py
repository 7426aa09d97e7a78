"""Searches of the planner in CPU seconds, beside plans of the same files with written costs."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import dpql
import dpql.api

DATASET = """\
DATASET trial ROWS {rows}
  COLUMNS (t DURATION IN [0, 99], e EVENT, a REAL IN [0, 9], b BOOLEAN, c REAL IN [-1, 1])
  BUDGET {budget}
"""
STATEMENTS = {
    "TEST cox": (
        "TEST cox beta=[0, 0, 0] VS [0.05, -0.3, 0.1] event_rate=0.3 {cost} AS m\n",
        "power >= 0.5",
    ),
    "TEST logrank": ("TEST logrank group=b effect=0.5 {cost} AS m\n", "power >= 0.5"),
    "COVARIANCE ssp": ("COVARIANCE ssp {cost} AS m\n", "precision >= 30"),
}


def seconds(call: Callable[[int], object], first: int) -> float:
    """The least CPU seconds of three calls, each with another number of rows: no cache helps."""
    found = []
    for rows in range(first, first + 3):
        before = time.process_time()
        call(rows)
        found.append(time.process_time() - before)
    return min(found)


def line(what: str, searched: float, written: float) -> str:
    """One line: both times with their ratio."""
    return (
        f"{what:<34} {searched:7.2f} CPU s  ({searched / written:5.1f} x {written:.3f} s written)"
    )


def cost_of_auto(name: str) -> str:
    """The time to find one cost, beside planning with the cost that was found."""
    statement, goal = STATEMENTS[name]

    def plan(rows: int, cost: str) -> dpql.api.PlanResult:
        text = DATASET.format(rows=rows, budget="mu=4") + statement.format(cost=cost)
        return dpql.plan(text + f"EXPECT m.{goal}\n")

    ((paid,),) = [s["cost"] for s in plan(3999, "auto").json()["statements"]]
    found = f"mu={paid['declared']['mu']}"
    return line(
        f"auto of {name}",
        seconds(lambda rows: plan(rows, "auto"), 4000),
        seconds(lambda rows: plan(rows, found), 5000),
    )


def split(count: int, budget: str) -> str:
    """The time to split a budget over `count` matrices, one with a goal."""

    def text(rows: int) -> str:
        lines = [f"COVARIANCE ssp COLUMNS (a, c) 0.01% AS m{i}\n" for i in range(count)]
        head = DATASET.format(rows=rows, budget=budget)
        return head + "".join(lines) + "EXPECT m0.precision >= 30\n"

    proposed = dpql.allocate(text(3999)).text
    if proposed is None:
        raise SystemExit("the budget of the benchmark is too small for its goal")
    return line(
        f"--allocate, {count} statements, {budget.split('=')[0]}",
        seconds(lambda rows: dpql.allocate(text(rows)), 4000),
        seconds(lambda rows: dpql.plan(proposed.replace("ROWS 3999", f"ROWS {rows}")), 5000),
    )


def main() -> None:
    """Print seconds and ratios."""
    for name in STATEMENTS:
        print(cost_of_auto(name))
    print(split(10, "mu=4"))
    print(split(100, "mu=4"))
    print(split(10, "eps=9, delta=1e-6"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
