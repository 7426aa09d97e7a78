"""Only a measurement leads from the secret side to the public side."""

from __future__ import annotations

import pytest

from planner.findings import Findings
from planner.graph import SECRET, Graph, Node, graph_of, order, unsafe_edges, view
from planner.rules.only_measurements_cross import judge
from suites.queries import ROSSI, checked

TEXT = (
    ROSSI
    + "TEST cox beta=b0 VS b1 eps=1 AS t\nCOVARIANCE ssp mu=0.3 AS s\nDERIVE c = correlation(s)"
)


def test_a_plan_flows_from_scan_to_derived() -> None:
    graph = graph_of(checked(TEXT).bound)
    assert unsafe_edges(graph.nodes, graph.edges) == ()
    places = {node: index for index, node in enumerate(order(graph))}
    assert all(places[start] < places[end] for start, end in graph.edges)
    assert ("release:s", "derived:c") in graph.edges


@pytest.mark.parametrize(
    "edge",
    [
        ("scan:rossi", "release:t"),
        ("scan:rossi", "derived:c"),
        ("scan:rossi", "measurement:t"),
        ("summary:t", "release:t"),
        ("summary:t", "derived:c"),
        ("derived:c", "summary:t"),
        ("release:t", "scan:rossi"),
        ("release:t", "measurement:s"),
        ("nowhere", "release:t"),
    ],
)
def test_every_other_edge_is_refused(edge: tuple[str, str]) -> None:
    graph = graph_of(checked(TEXT).bound)
    bad = Graph((*graph.nodes, Node("nowhere", "scan", "nowhere")), (*graph.edges, edge))
    findings = Findings()
    judge(bad, findings)
    assert "DPQL-E070" in {one.code for one in findings.items}


def test_a_circle_is_refused() -> None:
    graph = Graph((Node("a", "derived", "a"), Node("b", "derived", "b")), (("a", "b"), ("b", "a")))
    findings = Findings()
    judge(graph, findings)
    assert [one.code for one in findings.items] == ["DPQL-E070"]


def test_every_path_from_secret_to_public_passes_a_measurement() -> None:
    import networkx

    graph = view(graph_of(checked(TEXT).bound))
    public = [n for n, sort in graph.nodes(data="sort") if sort in ("release", "derived")]
    secret = [n for n, sort in graph.nodes(data="sort") if sort in SECRET]
    cut = graph.copy()
    cut.remove_nodes_from([n for n, sort in graph.nodes(data="sort") if sort == "measurement"])
    assert not any(networkx.has_path(cut, s, p) for s in secret for p in public)
