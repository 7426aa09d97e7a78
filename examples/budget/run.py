"""From how good the answers must be to what they cost, and from a budget to its split.

No data is read: everything here follows from what the file declares. The study is invented.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import dpql

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Print the plan with the costs that were found, the price of power, and a proposed split."""
    text = (HERE / "budget.dpql").read_text("utf-8")
    plan = dpql.plan(text)
    print(plan)
    print("what more power costs:")
    for power in ("0.5", "0.8", "0.9", "0.95", "0.99"):
        print(f"  power {power}: rho={_cost_of_power(text, power)}")
    print()
    print("the same study with the goal of the test alone; the rest takes what is left,")
    print("the curve three parts of four:")
    print()
    open_text = text.replace("EXPECT build.precision >= 50\n", "")
    print(dpql.allocate(open_text, weights={"curve": 3, "build": Fraction(1)}))


def _cost_of_power(text: str, power: str) -> str:
    """The least rho at which the test has this power, by forecast."""
    made = dpql.plan(text.replace("power >= 0.9", f"power >= {power}")).json()
    (effect,) = [one for one in made["statements"] if one["name"] == "effect"]
    return str(effect["cost"][0]["declared"]["rho"])


if __name__ == "__main__":
    main()
