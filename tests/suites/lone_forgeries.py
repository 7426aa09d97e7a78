"""Certificates that must be refused, and are no honest one with one thing changed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from planner.calculus.leaves import Leaf
from suites.certificates import Body, by_hand, dataset, plan, reserve, statement, step

F = Fraction


def lone() -> dict[str, tuple[Body, bytes, list[Body]]]:
    """By what is wrong: certificate, plan bytes, reservations."""
    sites = {"max": 1, "members": [{"name": name, "rows": 9} for name in "ab"]}
    small, one = Leaf.lap(1, 10, dataset="d"), Leaf.gauss(1, 1, dataset="d")
    pair = Leaf.declared("adp", F(1, 10), F(1, 10**6), dataset="d")
    wide = {"delta": "0.1", "eps": "9"}

    def alone(rule: str, out: Body, leaves: list[Leaf], **more: Any) -> Any:
        body = plan([dataset("d", sites=more.pop("sites", None))], statement("s", *leaves))
        of = [f"l0.{i}" for i in range(len(leaves))]
        unit = "mu2" if "mu2" in out else "adp" if "delta" in out else "eps"
        amount = out["mu2"] if unit == "mu2" else out["eps"]
        pairs = {"delta": out["delta"]} if unit == "adp" else {}
        return by_hand(body, [step("t", rule, of, out, **more)], reserve(unit, amount, **pairs))

    summed, data, reserved = alone("pld_adp", wide, [one, one], h="1/4")
    for node in summed["nodes"][:-1]:
        node["out"] = {"mu2": "1"}
    summed["nodes"].insert(-1, step("u", "sum_mu2", ["l0.0", "l0.1"], {"mu2": "2"}))
    summed["nodes"][-1]["in"]["of"] = ["u"]
    at = [Leaf.lap(1, 10, dataset="d", site=site) for site in "ab"]
    return {
        "a mu whose smallest tests no bound covers": alone(
            "pld_mu2", {"mu2": "1.011"}, [small, one], h="1/20", bits=96
        ),
        "a sum of what claims nothing": alone("sum_mu2", {"mu2": "0.01"}, [small, one]),
        "a mu too small for a vertex": alone(
            "pld_mu2", {"mu2": "0.99"}, [small, one], h="1/20", bits=300
        ),
        "a mu of a pair": alone("pld_mu2", {"mu2": "3"}, [pair, one], h="1/4", bits=300),
        "a rule without a name": alone("pld_eps", {"eps": "0.3"}, [small, small], h="1/10"),
        "two sites on one grid": alone("pld_adp", wide, at, sites=sites, h="1/4"),
        "a sum on a grid": (summed, data, reserved),
    }
