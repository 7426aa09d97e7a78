"""The plan graph as text for drawing programs."""

from __future__ import annotations

from planner.graph import SECRET, Graph

__all__ = ["dot", "mermaid"]


def dot(graph: Graph) -> str:
    """The graph in Graphviz's language; the secret side is shaded."""
    lines = ["digraph plan {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for node in graph.nodes:
        style = ', style=filled, fillcolor="#dddddd"' if node.sort in SECRET else ""
        lines.append(f"  {_quoted(node.id)} [label={_quoted(node.label)}{style}];")
    lines += [f"  {_quoted(start)} -> {_quoted(end)};" for start, end in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(graph: Graph) -> str:
    """The graph in Mermaid's language."""
    numbers = {node.id: f"n{index}" for index, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        label = node.label.replace('"', "#quot;")
        lines.append(f'  {numbers[node.id]}["{label}"]')
    lines += [f"  {numbers[start]} --> {numbers[end]}" for start, end in graph.edges]
    secret = [numbers[node.id] for node in graph.nodes if node.sort in SECRET]
    if secret:
        lines += ["  classDef secret fill:#dddddd", f"  class {','.join(secret)} secret"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
