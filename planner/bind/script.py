"""A script, to a plan in which every name is resolved."""

from __future__ import annotations

from grammar import tree
from grammar.diagnostics import Diagnostic
from planner.bind.datasets import bind_dataset
from planner.bind.free import bind_derive, bind_expect, bind_study
from planner.bind.measurements import Counter, bind_measurement
from planner.bind.scope import Scope
from planner.bound import (
    BoundDataset,
    BoundDerive,
    BoundExpect,
    BoundMeasurement,
    BoundPlan,
)
from planner.facts import PublicTable
from planner.findings import Findings, Mistake
from planner.mechanism import Catalogue
from planner.values import evaluate

__all__ = ["bind"]


def bind(
    script: tree.Script, catalogue: Catalogue, tables: tuple[PublicTable, ...] = ()
) -> tuple[BoundPlan, tuple[Diagnostic, ...]]:
    """Resolve every name and type every option; `tables` are the public tables known by then.

    The plan holds what could be resolved; it may be used further only where no diagnostic is an
    error.
    """
    binder = _Binder(catalogue, Findings(), tables)
    for part in sorted((*script.statements, *script.broken), key=lambda one: one.span.start):
        if isinstance(part, tree.Broken):
            binder.skip(part)
        else:
            binder.take(part)
    plan = BoundPlan(
        script.source,
        tuple(binder.datasets),
        tuple(binder.releases.values()),
        tuple(binder.derived),
        tuple(binder.expects),
        tuple(binder.study.items()),
    )
    return plan, tuple(binder.findings.items)


class _Binder:
    """One walk down a file; each statement sees only what stands above it."""

    def __init__(
        self, catalogue: Catalogue, findings: Findings, tables: tuple[PublicTable, ...]
    ) -> None:
        self.catalogue = catalogue
        self.findings = findings
        self.scope = Scope(findings, tables=tables)
        self.counter = Counter()
        self.datasets: list[BoundDataset] = []
        self.releases: dict[str, BoundMeasurement] = {}
        self.derived: list[BoundDerive] = []
        self.expects: list[BoundExpect] = []
        self.study: dict[str, str] = {}

    def take(self, statement: tree.Statement) -> None:
        """Bind one statement; a mistake in it does not reach its neighbours."""
        try:
            self._take(statement)
        except Mistake as mistake:
            self.findings.add(mistake, statement.span)

    def skip(self, broken: tree.Broken) -> None:
        """Remember what a statement would have defined, so that its uses are not complained of."""
        names = set(broken.names)
        if broken.method:
            names.add(self.counter.next(broken.method.casefold()))
        self.scope.broken.update(names)
        self.scope.broken_datasets = self.scope.broken_datasets or broken.word == "DATASET"

    def _take(self, statement: tree.Statement) -> None:
        match statement:
            case tree.Dataset():
                dataset = bind_dataset(statement, self.scope)
                if dataset is not None:
                    self.datasets.append(dataset)
            case tree.Let(name=name):
                if self.scope.define(name, "LET"):
                    self.scope.broken.add(name.text)
                    self.scope.values[name.text] = evaluate(statement.value, self.scope.values)
                    self.scope.broken.discard(name.text)
            case tree.Measurement():
                bound = bind_measurement(statement, self.catalogue, self.scope, self.counter)
                if bound is not None:
                    self.releases[bound.name] = bound
            case tree.Derive():
                derived = bind_derive(statement, self.catalogue, self.releases, self.scope)
                if derived is not None:
                    self.derived.append(derived)
            case tree.Expect():
                expect = bind_expect(statement, self.releases, self.scope)
                if expect is not None:
                    self.expects.append(expect)
            case tree.Study():
                bind_study(statement, self.scope, self.study)
            case tree.Evalues(name=name):
                self.scope.define(name, "e-value source")
                self.scope.broken.add(name.text)
                self.findings.error(
                    "DPQL-E040",
                    "EVALUES has no kind in this version yet",
                    name.span,
                    help="a dataset with a `LOG_EVALUE SENSITIVITY d ASSERTED_BY 'who'` column is "
                    "a source of e-values",
                )
            case tree.Policy():
                self.findings.error(
                    "DPQL-E039",
                    "a POLICY stands in the custodian's own file",
                    statement.span,
                    note="an analysis cannot set the rules that it is judged by",
                    help="give the file that holds it with `--policy FILE`",
                )
