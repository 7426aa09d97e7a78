"""The one namespace of a file: datasets, sites, LETs, sources, releases and derived names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from grammar import tree
from grammar.diagnostics import Label
from grammar.source import Span
from planner.bound import BoundDataset
from planner.facts import PublicTable
from planner.findings import Findings
from planner.values import Value

__all__ = ["Scope"]

Sort: TypeAlias = Literal[
    "dataset", "site", "site's full name", "LET", "e-value source", "release", "derived name"
]
Part = TypeVar("Part", tree.DatasetClause, tree.Item)


@dataclass(slots=True)
class Scope:
    """What is defined so far; each name once, before its use."""

    findings: Findings
    defined: dict[str, tuple[Sort, Span]] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    datasets: dict[str, BoundDataset] = field(default_factory=dict)
    tables: tuple[PublicTable, ...] = ()
    broken_datasets: bool = False
    """Whether a DATASET could not be read or bound: then a source may be missing because of it."""

    @property
    def broken(self) -> set[str]:
        """The names whose definitions were complained of."""
        return self.findings.broken

    def define(self, name: tree.Name, sort: Sort) -> bool:
        """Take a name; False (with an error written) if it is taken.

        Sites of two datasets may share a name.
        """
        return self.define_text(name.text, name.span, sort)

    def define_text(self, text: str, span: Span, sort: Sort) -> bool:
        """Take a name that need not stand in the file, such as `cox_1`."""
        before = self.defined.get(text)
        if before is None:
            self.defined[text] = (sort, span)
            return True
        if before[0] == "site" and sort == "site":
            return True
        self.findings.error(
            "DPQL-E027",
            f"`{text}` is defined twice",
            span,
            note="datasets, sites, LETs, e-value sources, releases and derived names share one "
            "namespace",
            help="give one of them another name"
            if sort != "release"
            else "name this measurement with `AS another_name`",
            labels=[Label(before[1], f"first defined here, as a {before[0]}")],
        )
        return False

    def once(self, nodes: Iterable[Part], words: Mapping[type, str], code: str) -> dict[type, Part]:
        """The first node of each kind that has a word; a second one is an error under `code`."""
        found: dict[type, Part] = {}
        for node in nodes:
            kind = type(node)
            if kind not in words:
                continue
            first = found.setdefault(kind, node)
            if first is not node:
                self.findings.error(
                    code,
                    f"{words[kind]} is written twice",
                    node.span,
                    help="keep one",
                    labels=[Label(first.span, "first here")],
                )
        return found

    def names(self, *sorts: Sort) -> list[str]:
        """The names of some sorts, in the order of their definition."""
        return [name for name, (sort, _) in self.defined.items() if sort in sorts]
