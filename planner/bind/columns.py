"""Column declarations, to typed columns with exact bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import cast, get_args

from grammar import tree
from planner.bind.scope import Scope
from planner.facts import Column, ColumnType
from planner.findings import Mistake, choices
from planner.values import positive_integer, rational

__all__ = ["columns_of"]

_TYPES: tuple[str, ...] = get_args(ColumnType)
_NUMERIC = ("real", "integer", "duration")
_SINGLE = ("event", "duration", "site", "log_evalue", "id")
_NARROW = Fraction(1, 2**30)


def columns_of(clause: tree.ColumnDeclarations, scope: Scope) -> tuple[Column, ...]:
    """The declared columns in order; mistakes are written down, and their columns left out."""
    columns: dict[str, Column] = {}
    for declaration in clause.columns:
        try:
            column = _column(declaration, scope)
            if column.name in columns:
                raise Mistake(
                    "DPQL-E031", f"column `{column.name}` is declared twice", declaration.span
                )
            if column.type in _SINGLE and any(c.type == column.type for c in columns.values()):
                raise Mistake(
                    "DPQL-E031",
                    f"a dataset has at most one {column.type.upper()} column",
                    declaration.span,
                )
            columns[column.name] = column
        except Mistake as mistake:
            scope.findings.add(mistake, declaration.span)
    return tuple(columns.values())


def _column(node: tree.ColumnDeclaration, scope: Scope) -> Column:
    pattern = isinstance(node.name, tree.Text)
    name = node.name.value if isinstance(node.name, tree.Text) else node.name.text
    if not name:
        raise Mistake("DPQL-E031", "a column needs a name", node.name.span)
    word = node.type.text.casefold()
    if word not in _TYPES:
        raise Mistake(
            "DPQL-E036",
            f"there is no column type `{node.type.text}`",
            node.type.span,
            help=choices(node.type.text, [t.upper() for t in _TYPES], "types"),
        )
    kind = cast(ColumnType, word)
    lo, hi = _range(node, name, kind, scope)
    if pattern and kind not in ("real", "integer", "boolean", "genotype"):
        raise Mistake("DPQL-E031", f"a pattern cannot name {kind.upper()} columns", node.span)
    if node.hypotheses is not None and not pattern:
        raise Mistake(
            "DPQL-E031", "HYPOTHESES goes with a pattern of columns", node.hypotheses.span
        )
    sensitivity, asserted_by = _assertion(node, kind, scope)
    return Column(
        name=name,
        type=kind,
        lo=lo,
        hi=hi,
        levels=_levels(node, name, kind),
        sensitivity=sensitivity,
        asserted_by=asserted_by,
        pattern=pattern,
        hypotheses=None
        if node.hypotheses is None
        else positive_integer(node.hypotheses, scope.values, "HYPOTHESES"),
    )


def _range(
    node: tree.ColumnDeclaration, name: str, kind: ColumnType, scope: Scope
) -> tuple[Fraction | None, Fraction | None]:
    if node.range is None:
        return None, None
    if kind not in _NUMERIC:
        raise Mistake(
            "DPQL-E037",
            f"a {kind.upper()} column takes no range",
            node.span,
            help=f"write `{name} {kind.upper()}`, or make it REAL or INTEGER",
        )
    lo = rational(node.range[0], scope.values)
    hi = rational(node.range[1], scope.values)
    place = node.range[0].span.to(node.range[1].span)
    if lo >= hi:
        raise Mistake(
            "DPQL-E037",
            f"the range of `{name}` is empty: the lower bound must lie below the upper",
            place,
        )
    if kind == "duration" and lo != 0:
        raise Mistake("DPQL-E037", "a DURATION starts at 0: write `IN [0, hi]`", place)
    largest = max(abs(lo), abs(hi))
    if largest > 10**300 or hi - lo < Fraction(1, 10**300):
        raise Mistake("DPQL-E037", f"the range of `{name}` is beyond what can be computed", place)
    if hi - lo < _NARROW * largest:
        raise Mistake(
            "DPQL-E037",
            f"the range of `{name}` is too narrow for the size of its numbers",
            place,
            note="its values would differ only in digits that a computer drops",
            help="subtract a constant from the column first",
        )
    return lo, hi


def _levels(node: tree.ColumnDeclaration, name: str, kind: ColumnType) -> tuple[str, ...]:
    if kind != "category":
        if node.levels is not None:
            raise Mistake(
                "DPQL-E036", f"a {kind.upper()} column takes no list of levels", node.span
            )
        return ()
    levels = tuple(level.value for level in node.levels or ())
    if len(levels) < 2:
        raise Mistake(
            "DPQL-E036",
            f"CATEGORY `{name}` needs at least two levels",
            node.span,
            help=f"write `{name} CATEGORY ('reference', 'other')`",
        )
    if len(set(levels)) != len(levels):
        raise Mistake("DPQL-E036", f"CATEGORY `{name}` lists a level twice", node.span)
    return levels


def _assertion(
    node: tree.ColumnDeclaration, kind: ColumnType, scope: Scope
) -> tuple[Fraction | None, str]:
    if kind != "log_evalue":
        if node.sensitivity is not None or node.asserted_by is not None:
            raise Mistake(
                "DPQL-E038", "SENSITIVITY and ASSERTED_BY belong to a LOG_EVALUE column", node.span
            )
        return None, ""
    if node.sensitivity is None or node.asserted_by is None or not node.asserted_by.value.strip():
        raise Mistake(
            "DPQL-E038",
            "a LOG_EVALUE column needs SENSITIVITY and ASSERTED_BY",
            node.span,
            note="nobody can compute from a table of e-values how far one person can move them, so "
            "somebody has to answer for the number",
            help="write `LOG_EVALUE SENSITIVITY d ASSERTED_BY 'who'`",
        )
    value = rational(node.sensitivity, scope.values)
    if value <= 0 or value > 10**6 or value < Fraction(1, 10**9):
        raise Mistake(
            "DPQL-E038", "SENSITIVITY must lie between 1e-9 and 1e6", node.sensitivity.span
        )
    return value, node.asserted_by.value
