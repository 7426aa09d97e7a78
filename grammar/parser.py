"""A text's tree with what is wrong in it."""

from __future__ import annotations

from functools import cache

from grammar.automaton import Automaton, Stuck
from grammar.build import Builder
from grammar.diagnostics import Diagnostic
from grammar.scan import scan
from grammar.source import Source, Span
from grammar.split import classify, split
from grammar.table import Table, load
from grammar.tree import Script, Statement

__all__ = ["parse"]


@cache
def _table() -> Table:
    return load()


def parse(source: Source) -> tuple[Script, tuple[Diagnostic, ...]]:
    """The tree of a text, with all findings in the order of their places.

    Never raises for what a text holds. A statement that cannot be read is left out of the tree.
    """
    scanned = scan(source.text)
    findings = scanned.findings
    builder = Builder()
    automaton = Automaton(_table(), builder.actions())
    statements: list[Statement] = []
    for chunk in split(scanned.tokens):
        tokens = classify(chunk)
        result = automaton.read(tokens)
        if isinstance(result, Stuck):
            t = tokens[min(result.index, len(tokens) - 1)]
            findings.append(
                Diagnostic(
                    "DPQL-E012",
                    "unexpected",
                    Span(t[2], t[3]),
                    help=" ".join(sorted(result.expected)),
                )
            )
        else:
            statements.append(result)
    findings += builder.findings
    return Script(source, tuple(statements), tuple(scanned.comments)), tuple(findings)
