"""Scan, summary, measurement, release, derived: how a plan's results flow.

Only a measurement leads from the secret side to the public side. Order and that check work on
tuples; `view` makes a networkx graph for whoever wants to analyse or draw one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import networkx

    from planner.bound import BoundMeasurement, BoundPlan

__all__ = ["Edge", "Graph", "Node", "graph_of", "order", "unsafe_edges", "view"]

Sort: TypeAlias = Literal["scan", "summary", "measurement", "release", "derived"]
SECRET: frozenset[Sort] = frozenset({"scan", "summary"})


@dataclass(frozen=True, slots=True)
class Node:
    """One step; `id` is unique in its graph, `label` is what a reader sees."""

    id: str
    sort: Sort
    label: str


Edge: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in an order in which each comes after what it reads, and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def json(self) -> dict[str, Any]:
        """The graph as `{"nodes","edges"}`."""
        return {
            "nodes": [{"id": n.id, "sort": n.sort, "label": n.label} for n in self.nodes],
            "edges": [{"from": a, "to": b} for a, b in self.edges],
        }


def graph_of(plan: BoundPlan) -> Graph:
    """The graph of a bound plan."""
    used = [source for measurement in plan.measurements for source in measurement.facts.sources]
    scanned = dict.fromkeys(
        name
        for dataset in plan.datasets
        for name in [s.name for s in used if s.dataset == dataset.name] or [dataset.name]
    )
    nodes = [Node(f"scan:{name}", "scan", name) for name in scanned]
    edges: list[Edge] = []
    for measurement in plan.measurements:
        name, mechanism = measurement.name, measurement.mechanism
        if mechanism.compares:
            _compared(measurement, nodes, edges)
            continue
        nodes += [
            Node(f"summary:{name}", "summary", f"summary for {name}"),
            Node(f"measurement:{name}", "measurement", f"{mechanism.verb} {mechanism.method}"),
            Node(f"release:{name}", "release", name),
        ]
        for source in measurement.facts.sources:
            edges.append((f"scan:{source.name}", f"summary:{name}"))
        edges.append((f"summary:{name}", f"measurement:{name}"))
        edges.append((f"measurement:{name}", f"release:{name}"))
    for derived in plan.derived:
        nodes.append(Node(f"derived:{derived.name}", "derived", derived.name))
        edges.append((f"release:{derived.release}", f"derived:{derived.name}"))
    return Graph(tuple(nodes), tuple(edges))


def _compared(measurement: BoundMeasurement, nodes: list[Node], edges: list[Edge]) -> None:
    """Each source to a release of its own; what compares the two is derived from them alone."""
    name, mechanism = measurement.name, measurement.mechanism
    ends = []
    for place, source in enumerate(measurement.facts.sources):
        steps = [f"site_{step}:{place}:{name}" for step in ("summary", "measurement", "release")]
        nodes += [
            Node(steps[0], "summary", f"summary for {name} at {source.name}"),
            Node(steps[1], "measurement", f"{mechanism.verb} {mechanism.method} at {source.name}"),
            Node(steps[2], "release", f"{name} at {source.name}"),
        ]
        edges += [(f"scan:{source.name}", steps[0]), (steps[0], steps[1]), (steps[1], steps[2])]
        ends.append(steps[2])
    nodes.append(Node(f"release:{name}", "derived", name))
    edges += [(end, f"release:{name}") for end in ends]


def unsafe_edges(nodes: Iterable[Node], edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The edges that no plan may have.

    Allowed are scan to summary, summary to measurement, measurement to release, release to
    derived, derived to derived; so only a measurement crosses from secret to public.
    """
    sorts = {node.id: node.sort for node in nodes}
    allowed = {
        ("scan", "summary"),
        ("summary", "measurement"),
        ("measurement", "release"),
        ("release", "derived"),
        ("derived", "derived"),
    }
    return tuple(
        (start, end) for start, end in edges if (sorts.get(start), sorts.get(end)) not in allowed
    )


def order(graph: Graph) -> tuple[str, ...]:
    """The nodes, each after all that it reads. Raises ValueError on a cycle."""
    waiting = {node.id: 0 for node in graph.nodes}
    after: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for start, end in graph.edges:
        waiting[end] += 1
        after[start].append(end)
    ready = [node.id for node in graph.nodes if waiting[node.id] == 0]
    done: list[str] = []
    while ready:
        node = ready.pop(0)
        done.append(node)
        for follower in after[node]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    if len(done) != len(graph.nodes):
        raise ValueError("the plan graph has a cycle")
    return tuple(done)


def view(graph: Graph) -> networkx.DiGraph[str]:
    """The graph as a networkx graph, with `sort` and `label` on every node."""
    import networkx

    drawn: networkx.DiGraph[str] = networkx.DiGraph()
    for node in graph.nodes:
        drawn.add_node(node.id, sort=node.sort, label=node.label)
    drawn.add_edges_from(graph.edges)
    return drawn
