"""The words of a node on one line, with the places where a long line may break."""

from __future__ import annotations

from collections.abc import Iterable

from grammar import tree
from grammar.words import COST_WORDS, is_plain

__all__ = [
    "BREAK",
    "amount",
    "clause",
    "declaration",
    "defined",
    "expression",
    "item",
    "listed",
    "name",
    "option",
    "text",
]

BREAK = "\n"
"""Where a line may break, else a blank; no token crosses a line end, so it stands for itself."""

_BAR, _SUM, _PRODUCT, _COLON, _SIGN, _POWER, _ATOM = range(7)
_TIGHTNESS = {
    "|": _BAR,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    ":": _COLON,
    "^": _POWER,
}


def name(node: tree.Name) -> str:
    """A name as given, in quotes where it had them or needs them."""
    if node.quoted or not is_plain(node.text):
        return '"' + node.text.replace('"', '""') + '"'
    return node.text


def defined(node: tree.Name) -> str:
    """A name before `=`, where the words of costs need quotes."""
    if node.text.lower() in COST_WORDS and not node.quoted:
        return f'"{node.text}"'
    return name(node)


def text(node: tree.Text) -> str:
    """A string in single quotes; raises ValueError for one that no file can hold."""
    if "\n" in node.value or "\r" in node.value:
        raise ValueError("a string cannot cross the end of a line")
    return "'" + node.value.replace("'", "''") + "'"


def listed(words: Iterable[str]) -> str:
    """Words with commas, breakable after each."""
    return f",{BREAK}".join(words)


def expression(node: tree.Expression) -> str:
    """A value or a formula's terms; brackets that precedence needs are added."""
    return _expression(node)[0]


def _expression(node: tree.Expression) -> tuple[str, int]:
    """The words and how tightly they hold together."""
    match node:
        case tree.Number():
            return node.text, _ATOM
        case tree.Name():
            if node.text.lower() in ("auto", "true", "false"):
                return f'"{node.text}"', _ATOM
            return name(node), _ATOM
        case tree.Text():
            return text(node), _ATOM
        case tree.Auto():
            return "auto", _ATOM
        case tree.Truth():
            return "true" if node.value else "false", _ATOM
        case tree.Member():
            return reference(node), _ATOM
        case tree.Items():
            return f"[{listed(map(expression, node.items))}]", _ATOM
        case tree.Group():
            return f"({listed(map(expression, node.items))})", _ATOM
        case tree.Call():
            return f"{name(node.function)}({listed(map(expression, node.arguments))})", _ATOM
        case tree.Sign():
            operand = _at_least(_SIGN, node.operand)
            # Two minus signs side by side would begin a comment.
            gap = " " if operand[0] in "+-" else ""
            return f"{node.sign}{gap}{operand}", _SIGN
        case tree.Operation():
            return _operation(node)


def _operation(node: tree.Operation) -> tuple[str, int]:
    tight = _TIGHTNESS[node.operator]
    if node.operator == "^":
        return f"{_at_least(_ATOM, node.left)}^{_at_least(_SIGN, node.right)}", tight
    left, right = _at_least(tight, node.left), _at_least(tight + 1, node.right)
    if node.operator == ":":
        return f"{left}:{right}", tight
    return f"{left}{BREAK}{node.operator} {right}", tight


def _at_least(tight: int, node: tree.Expression) -> str:
    words, own = _expression(node)
    return words if own >= tight else f"({words})"


def reference(node: tree.Reference) -> str:
    """`name` or `left.right`."""
    if isinstance(node, tree.Member):
        return f"{name(node.left)}.{name(node.right)}"
    return name(node)


def amount(node: tree.Amount) -> str:
    """One cost, with the source that pays."""
    if node.auto:
        words = "auto"
    elif node.share is not None:
        words = f"{node.share.text}%"
    else:
        words = listed(f"{term.unit}={expression(term.value)}" for term in node.terms)
    return words if node.at is None else f"{words} AT {reference(node.at)}"


def costs(node: tree.Costs) -> str:
    """All costs of a statement, with the word BUDGET where the author wrote it."""
    words = f"{BREAK}AND ".join(map(amount, node.amounts))
    return f"BUDGET {words}" if node.word else words


def option(node: tree.Option) -> str:
    """`name=value` or `name=value VS value`."""
    words = f"{node.name.text}={expression(node.value)}"
    return words if node.versus is None else f"{words} VS {expression(node.versus)}"


def item(node: tree.Item) -> str:
    """One item of a measurement or of EVALUES."""
    match node:
        case tree.On(versus=None):
            sources = listed(map(reference, node.sources))
            return f"ON {sources}" if len(node.sources) == 1 else f"ON ({sources})"
        case tree.On():
            assert node.versus is not None
            return f"ON {reference(node.sources[0])} VS {reference(node.versus)}"
        case tree.Option():
            return option(node)
        case tree.Flag():
            return node.name.text
        case tree.Columns():
            return f"COLUMNS ({listed(map(name, node.columns))})"
        case tree.Formula():
            return f"{expression(node.response)} ~ {expression(node.terms)}"
        case tree.By():
            return f"BY {name(node.column)}"
        case tree.Costs():
            return costs(node)


def clause(node: tree.DatasetClause | tree.PolicyClause) -> str:
    """One clause of DATASET or POLICY on one line."""
    match node:
        case tree.From():
            return f"FROM {text(node.uri)}"
        case tree.Rows():
            return f"ROWS {expression(node.number)}"
        case tree.Unit():
            return f"UNIT {name(node.column)}{_more('MAX', node.maximum)}"
        case tree.Population():
            return f"POPULATION {name(node.name)}"
        case tree.Neighbors():
            return f"NEIGHBORS {node.relation.text}"
        case tree.Sites():
            sites = listed(f"{name(site.name)}{_more('ROWS', site.rows)}" for site in node.sites)
            return f"SITES ({sites}){_more('MAX', node.maximum)}"
        case tree.ColumnDeclarations():
            return f"COLUMNS ({listed(' '.join(declaration(c)) for c in node.columns)})"
        case tree.Center():
            return f"CENTER {expression(node.values)}"
        case tree.Norm():
            return f"NORM ({listed(map(name, node.columns))}) <= {expression(node.bound)}"
        case tree.Costs():
            return costs(node)
        case tree.Cap():
            return _cap(node)
        case tree.Allow():
            entries = (
                verb.text if method is None else f"{verb.text} {method.text}"
                for verb, method in node.entries
            )
            return f"ALLOW ({listed(entries)})"
        case tree.Forbid():
            return f"FORBID COLUMNS ({listed(map(name, node.columns))})"
        case tree.Require():
            when = "" if node.when is None else f" WHEN {amount(node.when)}"
            return f"REQUIRE {expression(node.number)} APPROVALS{when}"


def _cap(node: tree.Cap) -> str:
    words = f"CAP {amount(node.amount)}"
    if node.days is not None:
        words += f" PER {expression(node.days)} DAYS"
    if node.analyst is not None:
        words += f" FOR ANALYST {text(node.analyst)}"
    if node.columns is not None:
        words += f" FOR COLUMNS ({listed(map(name, node.columns))})"
    return words


def declaration(node: tree.ColumnDeclaration) -> tuple[str, str]:
    """A declared column: its name or pattern, and its type with all details."""
    words = node.type.text
    if node.levels is not None:
        words += f" ({listed(map(text, node.levels))})"
    if node.range is not None:
        words += f" IN [{listed(map(expression, node.range))}]"
    words += _more("HYPOTHESES", node.hypotheses) + _more("SENSITIVITY", node.sensitivity)
    if node.asserted_by is not None:
        words += f" ASSERTED_BY {text(node.asserted_by)}"
    return text(node.name) if isinstance(node.name, tree.Text) else name(node.name), words


def _more(word: str, node: tree.Expression | None) -> str:
    return "" if node is None else f" {word} {expression(node)}"
