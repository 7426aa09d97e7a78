"""Only a measurement leads from the secret side of a plan to the public side."""

from __future__ import annotations

from planner.findings import Findings
from planner.graph import Graph, order, unsafe_edges

__all__ = ["judge"]


def judge(graph: Graph, findings: Findings) -> None:
    """Refuse every edge that would let a row out around a measurement."""
    for start, end in unsafe_edges(graph.nodes, graph.edges):
        findings.error(
            "DPQL-E070",
            f"`{end}` reads `{start}` around a measurement",
            note="rows are secret; only what a measurement releases is public",
        )
    try:
        order(graph)
    except ValueError:
        findings.error("DPQL-E070", "the plan reads its own results in a circle")
