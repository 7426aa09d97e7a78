"""DATASET statements, to the public facts that prices rest on."""

from __future__ import annotations

from fractions import Fraction

from grammar import tree
from planner.bind import costs
from planner.bind.columns import columns_of
from planner.bind.scope import Scope
from planner.bound import BoundDataset
from planner.calculus.cost import Cost
from planner.facts import Column, Norm, SourceFacts
from planner.findings import Mistake, choices
from planner.values import evaluate, positive_integer, rational

__all__ = ["bind_dataset"]

_WORDS = {
    tree.From: "FROM",
    tree.Rows: "ROWS",
    tree.Unit: "UNIT",
    tree.Population: "POPULATION",
    tree.Neighbors: "NEIGHBORS",
    tree.Sites: "SITES",
    tree.ColumnDeclarations: "COLUMNS",
    tree.Center: "CENTER",
    tree.Norm: "NORM",
    tree.Costs: "BUDGET",
}


def bind_dataset(statement: tree.Dataset, scope: Scope) -> BoundDataset | None:
    """The dataset, with every mistake written down; None if it cannot be used."""
    findings = scope.findings
    before = len(findings.items)
    fresh = scope.define(statement.name, "dataset")
    clauses = scope.once(statement.clauses, _WORDS, "DPQL-E028")
    try:
        rows = _rows(statement, clauses, scope)
        _neighbors(clauses, scope)
        columns = _columns(statement, clauses, scope)
        column, most = _unit(clauses, scope)
        sites, reach = _sites(clauses, rows, scope)
        norm = _norm(clauses, columns, scope)
        population = clauses.get(tree.Population)
        budget = _budget(clauses, scope)
        _log_evalue(statement, clauses, columns, most, scope)
    except Mistake as mistake:
        findings.add(mistake, statement.span)
        scope.broken.add(statement.name.text)
        scope.broken_datasets = True
        return None
    if fresh:
        _full_names(statement, sites, scope)
    if not fresh or any(item.severity == "error" for item in findings.items[before:]):
        scope.broken.add(statement.name.text)
        scope.broken_datasets = True
        return None
    uri = clauses.get(tree.From)
    facts = SourceFacts(
        dataset=statement.name.text,
        rows=rows,
        columns=columns,
        population=population.name.text if isinstance(population, tree.Population) else None,
        unit=column,
        max_rows=most,
        sites=sites,
        max_sites=reach,
        norm=norm,
    )
    money = clauses.get(tree.Costs)
    bound = BoundDataset(
        facts,
        tuple(facts.at(name) for name, _ in sites),
        budget,
        uri.uri.value if isinstance(uri, tree.From) else None,
        statement.name.span,
        money.span if money is not None else statement.name.span,
    )
    scope.datasets[facts.dataset] = bound
    return bound


def _full_names(statement: tree.Dataset, sites: tuple[tuple[str, int], ...], scope: Scope) -> None:
    """Take `dataset.site` and `dataset/site`, by which runs and ledgers call a site."""
    for name, _ in sites:
        for sign in "./":
            full = f"{statement.name.text}{sign}{name}"
            scope.define_text(full, statement.name.span, "site's full name")


def _rows(statement: tree.Dataset, clauses: dict[type, tree.DatasetClause], scope: Scope) -> int:
    clause = clauses.get(tree.Rows)
    if not isinstance(clause, tree.Rows):
        raise Mistake(
            "DPQL-E029",
            f"dataset `{statement.name.text}` does not say how many rows it has",
            statement.name.span,
            note="the number of rows is public, and every price rests on it",
            help="add `ROWS n`",
        )
    return positive_integer(clause.number, scope.values, "ROWS")


def _neighbors(clauses: dict[type, tree.DatasetClause], scope: Scope) -> None:
    clause = clauses.get(tree.Neighbors)
    if not isinstance(clause, tree.Neighbors):
        return
    relation = clause.relation.text.casefold()
    if relation == "replace":
        return
    scope.findings.error(
        "DPQL-E030",
        f"neighbours by `{clause.relation.text}` are not offered",
        clause.span,
        note="every price here is for one person's rows replaced, with the number of rows public "
        "and fixed; adding or removing a person would make that number private",
        help="write `NEIGHBORS replace`, or leave the clause out",
    )


def _columns(
    statement: tree.Dataset, clauses: dict[type, tree.DatasetClause], scope: Scope
) -> tuple[Column, ...]:
    clause = clauses.get(tree.ColumnDeclarations)
    if not isinstance(clause, tree.ColumnDeclarations):
        raise Mistake(
            "DPQL-E031",
            f"dataset `{statement.name.text}` declares no columns",
            statement.name.span,
            help="add `COLUMNS (name REAL IN [lo, hi], ...)`",
        )
    return columns_of(clause, scope)


def _unit(clauses: dict[type, tree.DatasetClause], scope: Scope) -> tuple[str | None, int]:
    clause = clauses.get(tree.Unit)
    if not isinstance(clause, tree.Unit):
        return None, 1
    if clause.maximum is None:
        return clause.column.text, 1
    return clause.column.text, positive_integer(clause.maximum, scope.values, "MAX")


def _sites(
    clauses: dict[type, tree.DatasetClause], rows: int, scope: Scope
) -> tuple[tuple[tuple[str, int], ...], int]:
    clause = clauses.get(tree.Sites)
    if not isinstance(clause, tree.Sites):
        return (), 1
    found: dict[str, int] = {}
    for site in clause.sites:
        if site.name.text in found:
            raise Mistake("DPQL-E032", f"site `{site.name.text}` is listed twice", site.span)
        if site.rows is None:
            raise Mistake(
                "DPQL-E032",
                f"site `{site.name.text}` does not say how many rows it has",
                site.span,
                note="without a public number of rows at each site, one replaced record could "
                "change two sites",
                help=f"write `{site.name.text} ROWS n`",
            )
        scope.define(site.name, "site")
        found[site.name.text] = positive_integer(site.rows, scope.values, "ROWS of a site")
    total = sum(found.values())
    if total != rows:
        raise Mistake(
            "DPQL-E032",
            f"the sites have {total} rows, the dataset says ROWS {rows}",
            clause.span,
            help="the numbers of the sites must add up to ROWS",
        )
    reach = 1
    if clause.maximum is not None:
        reach = positive_integer(clause.maximum, scope.values, "MAX")
        if reach > len(found):
            raise Mistake(
                "DPQL-E032",
                f"a person cannot be at {reach} of {len(found)} sites",
                clause.maximum.span,
            )
    return tuple(found.items()), reach


def _norm(
    clauses: dict[type, tree.DatasetClause], columns: tuple[Column, ...], scope: Scope
) -> Norm | None:
    center, clause = clauses.get(tree.Center), clauses.get(tree.Norm)
    if not isinstance(clause, tree.Norm):
        if center is not None:
            raise Mistake(
                "DPQL-E033",
                "CENTER has a meaning only together with NORM",
                center.span,
                help="add `NORM (columns) <= C`, or leave CENTER out",
            )
        return None
    bound = rational(clause.bound, scope.values)
    if bound <= 0:
        raise Mistake("DPQL-E033", "the bound of NORM must be positive", clause.bound.span)
    known = {column.name: column for column in columns}
    names = []
    for name in clause.columns:
        column = known.get(name.text)
        if column is None:
            raise Mistake(
                "DPQL-E034",
                f"NORM names `{name.text}`, which is no declared column",
                name.span,
                help=choices(name.text, known, "columns"),
            )
        if column.type not in ("real", "integer", "boolean"):
            raise Mistake("DPQL-E033", f"NORM cannot hold `{name.text}`", name.span)
        if name.text in names:
            raise Mistake("DPQL-E033", f"NORM names `{name.text}` twice", name.span)
        names.append(name.text)
    return Norm(tuple(names), bound, _center(center, names, known, scope))


def _center(
    clause: tree.DatasetClause | None, names: list[str], known: dict[str, Column], scope: Scope
) -> tuple[Fraction, ...]:
    if not isinstance(clause, tree.Center):
        return tuple(Fraction(0) for _ in names)
    value = evaluate(clause.values, scope.values)
    if not isinstance(value, tuple) or not all(isinstance(part, Fraction) for part in value):
        raise Mistake("DPQL-E033", "CENTER is a list of numbers", clause.span)
    if len(value) != len(names):
        raise Mistake(
            "DPQL-E033",
            f"CENTER has {len(value)} numbers for the {len(names)} columns of NORM",
            clause.span,
        )
    return tuple(part for part in value if isinstance(part, Fraction))


def _budget(clauses: dict[type, tree.DatasetClause], scope: Scope) -> Cost | None:
    clause = clauses.get(tree.Costs)
    if not isinstance(clause, tree.Costs):
        return None
    if len(clause.amounts) != 1 or clause.amounts[0].at is not None:
        raise Mistake(
            "DPQL-E060",
            "the BUDGET of a dataset is one cost",
            clause.span,
            note="the budgets of its sites are in their ledgers",
        )
    if clause.amounts[0].share is not None or clause.amounts[0].auto:
        raise Mistake(
            "DPQL-E060",
            "the BUDGET of a dataset is a number",
            clause.span,
            help="write `BUDGET rho=...`, `mu=...`, `eps=...` or `eps=..., delta=...`",
        )
    return costs.amount(clause.amounts[0], scope)


def _log_evalue(
    statement: tree.Dataset,
    clauses: dict[type, tree.DatasetClause],
    columns: tuple[Column, ...],
    most: int,
    scope: Scope,
) -> None:
    if not any(column.type == "log_evalue" for column in columns):
        return
    if tree.Unit in clauses or most > 1:
        scope.findings.error(
            "DPQL-E035",
            f"`{statement.name.text}` has one row a hypothesis, so UNIT has no meaning in it",
            clauses[tree.Unit].span,
            note="SENSITIVITY already says how far one person of the study behind the table can "
            "move every value",
            help="leave UNIT out",
        )
    if tree.Sites in clauses:
        scope.findings.error(
            "DPQL-E035",
            "a table of log e-values cannot be split over sites",
            clauses[tree.Sites].span,
        )
