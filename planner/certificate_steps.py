"""Steps of a certificate: nodes from a plan's leaves to their cost in eps, rho or mu squared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from planner.calculus.convert import NATIVE, Native, Unconvertible, charge
from planner.calculus.cost import LEDGER_UNITS
from planner.calculus.discretise import Part
from planner.calculus.dominating_pairs import parts_of
from planner.calculus.exact import claimable, sum_up, text
from planner.calculus.group import grouped
from planner.calculus.joint import joint
from planner.calculus.leaves import Leaf

__all__ = ["BOUNDED", "UNITS", "CertificateError", "Member", "Steps", "TooMuchToCheck"]

UNITS: dict[str, Native] = {unit: NATIVE[LEDGER_UNITS[unit]] for unit in LEDGER_UNITS}
BOUNDED = ("pure", "lap", "br")
_MOST_WORK = 1 << 27
"""What a checker computes at most: about half a minute."""


class CertificateError(ValueError):
    """A reserved amount does not cover what the plan's leaves cost, or has no derivation."""


class TooMuchToCheck(CertificateError):
    """The draws of the plan are more than a checker composes."""


@dataclass(frozen=True, slots=True)
class Member:
    """A leaf of the plan, for one person, with the id of its node and what the node claims."""

    id: str
    leaf: Leaf
    costs: dict[str, str] = field(compare=False)


@dataclass(slots=True)
class Steps:
    """Nodes as they are added; each claim is rounded up."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    _ids: dict[str, str] = field(default_factory=dict)
    _work: int = 0

    def add(
        self, stem: str, rule: str, given: Mapping[str, Any], out: Mapping[str, Fraction]
    ) -> str:
        """The node that says this, a new one if none does; its id is the stem with a number."""
        written = {unit: text(value) for unit, value in out.items()}
        node = {"rule": rule, "in": dict(given), "out": written}
        id = self._ids.setdefault(repr(node), f"{stem}{len(self.nodes)}")
        if id == f"{stem}{len(self.nodes)}":
            self.nodes.append({"id": id, **node})
        return id

    def add_grid(
        self,
        rule: str,
        given: Mapping[str, Any],
        out: Mapping[str, Fraction],
        parts: Iterable[Part],
        step: Fraction,
        bits: int,
    ) -> str:
        """The node of parts composed on a grid, with what a checker computes for it counted.

        A checker's grid is up to a quarter longer than ours.
        """
        before, id = len(self.nodes), self.add("p", rule, given, out)
        if len(self.nodes) > before:
            points = ((part.count, part.points(step, bits)) for part in parts)
            long = sum(count * (size + size // 4 + 2) for count, size in points)
            self._work += long * (bits + 288) // (1 if "mu2" in out else 4) + 1
        return id

    def confirm_checkable(self) -> None:
        """Raise TooMuchToCheck where a checker would stop before the end."""
        terms = (len(node["in"].get("of", ())) for node in self.nodes)
        if self._work + sum(many * (many + 64) // 8 for many in terms) >= _MOST_WORK:
            raise TooMuchToCheck("the checker would have too much to compute")

    def leaves(self, body: Mapping[str, Any]) -> list[Member]:
        """One node for each leaf of the plan, as one person's rows make it.

        A declared (eps, delta) claims both; others claim nothing until a sum needs a unit.
        """
        rows = {dataset["name"]: dataset["unit"]["max"] for dataset in body["datasets"]}
        members = []
        for i, statement in enumerate(body["statements"]):
            for place, written in enumerate(statement["leaves"]):
                leaf, k = Leaf.from_json(written), rows[written["dataset"]]
                person = grouped(leaf, k) if leaf.scale is None else leaf
                given = {"statement": statement["name"], "leaf": place, "rows": k, **written}
                rule = "cap" if leaf.role == "cap" else leaf.kind
                id = f"l{i}.{place}"
                costs: dict[str, str] = {}
                if person.kind == "adp":
                    for unit, one in (("delta", person.delta), ("eps", person.param)):
                        costs[unit] = text(claimable(person.count * one))
                self.nodes.append({"id": id, "rule": rule, "in": given, "out": costs})
                members.append(Member(id, person, costs))
        return members

    def sum_of(
        self, members: Sequence[Member], unit: str, most: int, joined: bool = False
    ) -> tuple[list[str], Fraction]:
        """The nodes whose sum is the members' cost in a unit, with that sum; sites by the largest.

        `joined`: the members of the dataset, and those of each site, are composed where that is
        less. Raises CertificateError where a leaf has no value in the unit.
        """
        homes: dict[str | None, list[Member]] = {}
        for member in members:
            homes.setdefault(member.leaf.site, []).append(member)
        sites = {
            site: (self._joined(mine) if joined else None)
            or [(self._cost(member, unit), member.id) for member in mine]
            for site, mine in homes.items()
        }
        whole = sites.pop(None, [])
        if len(sites) > 1:
            whole.append(self._dearest(sites, unit, most))
        else:
            whole.extend(part for parts in sites.values() for part in parts)
        # In the order in which both sides add them, so that both round alike.
        whole.sort()
        return [id for _, id in whole], sum_up(cost for cost, _ in whole)

    def _joined(self, members: Sequence[Member]) -> list[tuple[Fraction, str]] | None:
        """One node for the members' joint mu squared, beside Gaussian ones that are left apart."""
        parts = parts_of(member.leaf for member in members)
        found = None if parts is None else joint(parts)
        if found is None:
            return None
        off = [m for m in members if found.apart and m.leaf.kind not in BOUNDED]
        on = [m.id for m in members if not found.apart or m.leaf.kind in BOUNDED]
        together = (part for part in parts or () if not found.apart or part.kind != "gdp")
        given = {"bits": found.bits, "h": text(found.step), "of": on}
        out = {"mu2": found.composed}
        id = self.add_grid("pld_mu2", given, out, together, found.step, found.bits)
        return [(found.composed, id), *((self._cost(member, "mu2"), member.id) for member in off)]

    def _dearest(
        self, sites: Mapping[str | None, list[tuple[Fraction, str]]], unit: str, most: int
    ) -> tuple[Fraction, str]:
        costs = []
        for parts in sites.values():
            parts.sort()
            cost, id = sum_up(cost for cost, _ in parts), parts[0][1]
            if len(parts) > 1:
                id = self.add("s", f"sum_{unit}", {"of": [part for _, part in parts]}, {unit: cost})
            costs.append((cost, id))
        costs.sort()
        largest = sum_up(cost for cost, _ in costs[-most:])
        return largest, self.add("m", "site_top", {"of": [id for _, id in costs]}, {unit: largest})

    def _cost(self, member: Member, unit: str) -> Fraction:
        """What all draws of one leaf cost in a unit, as its node claims from here on."""
        try:
            one = charge(member.leaf, UNITS[unit])
        except Unconvertible as reason:
            raise CertificateError(str(reason)) from reason
        cost = claimable(member.leaf.count * one.value)
        member.costs[unit] = text(cost)
        return cost
