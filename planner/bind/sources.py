"""ON clauses, to the sources that a measurement reads."""

from __future__ import annotations

from grammar import tree
from planner.bind.scope import Scope
from planner.bound import BoundDataset
from planner.facts import SourceFacts
from planner.findings import Mistake, choices
from planner.mechanism import Mechanism

__all__ = ["AlreadySaid", "reference_text", "resolve", "sources_of"]


class AlreadySaid(Mistake):
    """A mistake that was already written down where the source was declared."""

    def __init__(self) -> None:
        super().__init__("DPQL-E047", "the source is broken")


def reference_text(node: tree.Reference) -> str:
    """A reference as it is written, without quotes."""
    return node.text if isinstance(node, tree.Name) else f"{node.left.text}.{node.right.text}"


def sources_of(
    mechanism: Mechanism, on: tree.On | None, title: str, statement: tree.Measurement, scope: Scope
) -> tuple[SourceFacts, ...]:
    """The sources in ON order; without ON the one declared source that fits. Raises `Mistake`."""
    if mechanism.compares:
        return _two(mechanism, on, title, statement, scope)
    if on is None:
        return (_only_fitting(mechanism, title, statement, scope),)
    if on.versus is not None or len(on.sources) != 1:
        raise Mistake(
            "DPQL-E046",
            f"`{title}` reads one source",
            on.span,
            help="write `ON` with one dataset",
        )
    source = resolve(on.sources[0], scope)
    _fits_or_mistake(mechanism, source, title, on, scope)
    return (source,)


def _two(
    mechanism: Mechanism, on: tree.On | None, title: str, statement: tree.Measurement, scope: Scope
) -> tuple[SourceFacts, SourceFacts]:
    """The two sources that are compared; no row may be in both. Raises `Mistake`."""
    if on is None or on.versus is None or len(on.sources) != 1:
        raise Mistake(
            "DPQL-E046",
            f"`{title}` compares two sources",
            statement.method.span if on is None else on.span,
            help="write `ON a VS b` with two datasets or two sites",
        )
    left, right = resolve(on.sources[0], scope), resolve(on.versus, scope)
    if left.dataset == right.dataset and (
        left.site == right.site or not (left.site and right.site)
    ):
        raise Mistake(
            "DPQL-E046",
            f"`{left.name}` and `{right.name}` have rows in common",
            on.span,
            help="compare two datasets, or two sites of one",
        )
    for source in (left, right):
        _fits_or_mistake(mechanism, source, title, on, scope)
    return left, right


def resolve(node: tree.Reference, scope: Scope) -> SourceFacts:
    """The dataset or site that a reference names. Raises `Mistake`."""
    if isinstance(node, tree.Member):
        dataset = _dataset(node.left, scope)
        for site in dataset.sites:
            if site.site == node.right.text:
                return site
        raise Mistake(
            "DPQL-E047",
            f"`{dataset.name}` has no site `{node.right.text}`",
            node.right.span,
            help=choices(node.right.text, [s.site or "" for s in dataset.sites], "its sites"),
        )
    if node.text in scope.datasets or node.text in scope.broken:
        return _dataset(node, scope).facts
    found = [
        site
        for dataset in scope.datasets.values()
        for site in dataset.sites
        if site.site == node.text
    ]
    if len(found) > 1:
        raise Mistake(
            "DPQL-E047",
            f"`{node.text}` is a site of several datasets",
            node.span,
            help="write " + " or ".join(f"`{site.name}`" for site in found),
        )
    return found[0] if found else _dataset(node, scope).facts


def _dataset(node: tree.Name, scope: Scope) -> BoundDataset:
    if node.text in scope.datasets:
        return scope.datasets[node.text]
    if node.text in scope.broken:
        raise AlreadySaid
    known = scope.names("dataset", "site", "e-value source")
    raise Mistake(
        "DPQL-E047",
        f"there is no dataset `{node.text}`",
        node.span,
        help=choices(node.text, known, "declared") or "declare it above with DATASET",
    )


def _lacks(mechanism: Mechanism, source: SourceFacts) -> list[str]:
    wanted = list(mechanism.roles)
    if mechanism.source == "evalues" and "log_evalue" not in wanted:
        wanted.append("log_evalue")
    return [role.upper() for role in wanted if not source.role(role)]


def _is_table_of_evalues(source: SourceFacts) -> bool:
    return bool(source.role("log_evalue"))


def _fits(mechanism: Mechanism, source: SourceFacts) -> bool:
    if mechanism.source == "dataset" and _is_table_of_evalues(source):
        return False
    return not _lacks(mechanism, source)


def _fits_or_mistake(
    mechanism: Mechanism, source: SourceFacts, title: str, on: tree.On, scope: Scope
) -> None:
    if source.site is not None and not mechanism.per_site:
        raise Mistake(
            "DPQL-E046",
            f"`{title}` needs all rows in one place and cannot run at site `{source.site}` alone",
            on.span,
            help=f"write `ON {source.dataset}`",
        )
    if mechanism.source == "dataset" and _is_table_of_evalues(source):
        raise Mistake(
            "DPQL-E046",
            f"`{title}` reads rows of people; `{source.name}` is a table of log e-values",
            on.span,
        )
    lacks = _lacks(mechanism, source)
    if lacks:
        raise Mistake(
            "DPQL-E046",
            f"`{title}` needs a column of type {' and one of type '.join(lacks)}; "
            f"`{source.name}` declares none",
            on.span,
            help=f"declare it, for example `COLUMNS (name {lacks[0]}, ...)`",
        )


def _only_fitting(
    mechanism: Mechanism, title: str, statement: tree.Measurement, scope: Scope
) -> SourceFacts:
    fitting = [d.facts for d in scope.datasets.values() if _fits(mechanism, d.facts)]
    if len(fitting) == 1:
        return fitting[0]
    if len(fitting) > 1:
        raise Mistake(
            "DPQL-E046",
            f"`{title}` could read " + " or ".join(f"`{source.name}`" for source in fitting),
            statement.method.span,
            help=f"add `ON {fitting[0].name}`",
        )
    if scope.broken_datasets:
        raise AlreadySaid
    if not scope.datasets:
        raise Mistake(
            "DPQL-E046",
            f"`{title}` has no dataset to read",
            statement.method.span,
            help="declare one above: `DATASET name ROWS n COLUMNS (...)`",
        )
    wanted = [role.upper() for role in mechanism.roles] or (
        ["LOG_EVALUE"] if mechanism.source == "evalues" else []
    )
    needs = " and ".join(wanted) or "rows of people"
    raise Mistake(
        "DPQL-E046",
        f"no declared dataset fits `{title}`, which needs {needs}",
        statement.method.span,
        help="declare such columns, or name the dataset with ON",
    )
