"""Reading one statement after the other, so that a broken one hides no other."""

from __future__ import annotations

from grammar import depth, expectations
from grammar.automaton import Automaton, Stuck
from grammar.broken import remains
from grammar.build import Builder
from grammar.diagnostics import Diagnostic
from grammar.resume import without
from grammar.scan import FAULT, Token
from grammar.source import Span
from grammar.spelling import nearest
from grammar.split import classify, demands_name
from grammar.table import Table
from grammar.tree import (
    Broken,
    By,
    Columns,
    Costs,
    Evalues,
    Formula,
    Item,
    Measurement,
    On,
    Statement,
)
from grammar.words import LOCAL_WORDS, RESERVED, STATEMENT_WORDS, VERBS

__all__ = ["Reader"]

_ONCE: dict[type[Item], str] = {
    Costs: "cost",
    On: "ON",
    Columns: "COLUMNS",
    By: "BY",
    Formula: "formula",
}
_WORDS = RESERVED | {"NAME", "QUOTED", "AUTO", "METHOD"}
_GUESSES = 5000
_RESUMED = 20


class Reader:
    """Collects statements, broken ones, and findings: one for each fault, none for its echo."""

    def __init__(self, text: str, table: Table) -> None:
        self.statements: list[Statement] = []
        self.broken: list[Broken] = []
        self.findings: list[Diagnostic] = []
        self._text = text
        self._guesses = _GUESSES
        self._builder = Builder()
        self._automaton = Automaton(table, self._builder.actions())

    def read(self, chunk: list[Token]) -> None:
        """One statement with its statement word, or what stands where one should begin."""
        if chunk[0][0] not in STATEMENT_WORDS:
            self._stray(chunk)
            return
        tokens = classify(chunk)
        deep = depth.check(tokens)
        if deep is not None:
            self.findings.append(deep)
            self._break(tokens)
            return
        result = self._automaton.read(tokens)
        told = self._told()
        if isinstance(result, Stuck):
            self._stuck(chunk, tokens, result, told)
        elif told:
            self.findings += told
            self._break(tokens)
        elif isinstance(result, (Measurement, Evalues)) and self._melted(chunk, result):
            return
        else:
            self.statements.append(result)

    # --- a statement that does not parse -------------------------------------------------------

    def _told(self) -> list[Diagnostic]:
        """What the builder found since it was asked last."""
        told = list(self._builder.findings)
        self._builder.findings.clear()
        return told

    def _stuck(
        self, chunk: list[Token], tokens: list[Token], stuck: Stuck, told: list[Diagnostic]
    ) -> None:
        cuts = self._misspelt(chunk, most=2)
        if cuts:
            self._cut(chunk, cuts)
            return
        if any(token[0] == FAULT for token in tokens):
            self.findings += told
            self._break(tokens)
            return
        token = tokens[stuck.index] if stuck.index < len(tokens) else None
        if token is not None and stuck.complete:
            named = len(tokens) > 1 and stuck.index > 1 and tokens[stuck.index - 2][0] == "AS"
            if named and tokens[0][0] in VERBS:
                finding = expectations.after_the_name(token, tokens[stuck.index - 1])
            elif token[4] and token[0] in _WORDS:
                finding = expectations.no_statement(token, None)
            else:
                finding = expectations.unexpected(tokens, stuck)
            if token[4]:
                self.read(tokens[: stuck.index])
                self.findings.append(finding)
                self._break(tokens[stuck.index :])
                return
            self.findings.append(finding)
        else:
            self.findings.append(expectations.unexpected(tokens, stuck))
        self.findings += told
        if tokens[0][0] in LOCAL_WORDS:
            self._resume(tokens, stuck.index, told)
        self._break(tokens)

    def _resume(self, tokens: list[Token], index: int, known: list[Diagnostic]) -> None:
        """Finds more faults behind the first one in a statement of many clauses."""
        for _ in range(_RESUMED):
            rest = without(tokens, index)
            if rest is None:
                return
            tokens, seam = rest
            result = self._automaton.read(tokens)
            told = self._told()
            self.findings += [found for found in told if found not in known]
            known += told
            if not isinstance(result, Stuck) or result.index < seam:
                return
            index = result.index
            self.findings.append(expectations.unexpected(tokens, result))

    def _stray(self, chunk: list[Token]) -> None:
        """What stands at the head of a file, or after `;`, without a statement word."""
        first = chunk[0]
        cuts = self._misspelt(chunk, most=2)
        meant = self._meant(first[1]) if first[0] == "NAME" else None
        if meant is not None:
            self._cut(chunk, [(0, meant), *cuts])
            return
        if first[0] != FAULT:
            self.findings.append(expectations.no_statement(first, None))
        self._break(chunk[: cuts[0][0]] if cuts else chunk)
        if cuts:
            self._cut(chunk, cuts, skip=True)

    def _cut(self, chunk: list[Token], cuts: list[tuple[int, str]], skip: bool = False) -> None:
        """Reads a chunk in pieces, each but the first begun by a misspelt statement word."""
        bounds = [index for index, _ in cuts] + [len(chunk)]
        if bounds[0] and not skip:
            self.read(chunk[: bounds[0]])
        for (start, word), end in zip(cuts, bounds[1:]):
            token = chunk[start]
            self.findings.append(expectations.no_statement(token, word))
            self._as_if([(word, *token[1:]), *chunk[start + 1 : end]])

    def _as_if(self, chunk: list[Token]) -> None:
        """Reads a statement whose word was corrected; what else is wrong with it stays unsaid."""
        tokens = classify(chunk)
        result = None if depth.check(tokens) else self._automaton.read(tokens)
        if self._told() or result is None or isinstance(result, Stuck):
            self._break(tokens)
        else:
            self.statements.append(result)

    def _misspelt(self, chunk: list[Token], most: int) -> list[tuple[int, str]]:
        """Words at the head of a line, no further in than the statement, near a statement word."""
        cuts: list[tuple[int, str]] = []
        local = LOCAL_WORDS.get(chunk[0][0], frozenset())
        margin: int | None = None
        inside = 0
        for index in range(1, len(chunk)):
            kind, text, start, _, first = chunk[index]
            previous = chunk[index - 1]
            if previous[0] in ("LPAR", "LSQB"):
                inside += 1
            elif previous[0] in ("RPAR", "RSQB"):
                inside = max(0, inside - 1)
            if kind != "NAME" or not first or (most == 1 and demands_name(previous)):
                continue
            if inside and previous[0] in ("LPAR", "LSQB", "COMMA"):
                continue
            following = chunk[index + 1] if index + 1 < len(chunk) else None
            if following is None or following[4] or following[0] not in _WORDS:
                continue
            if text.upper() in local:
                continue
            if margin is None:
                margin = self._column(chunk[0][2])
            if self._column(start) <= margin and (meant := self._meant(text, most)) is not None:
                cuts.append((index, meant))
                inside = 0
        return cuts

    def _meant(self, word: str, most: int = 2) -> str | None:
        """The statement word that was meant; guesses are few: a hostile text stays cheap."""
        if self._guesses == 0:
            return None
        self._guesses -= 1
        return nearest(word, STATEMENT_WORDS, most)

    def _column(self, offset: int) -> int:
        return offset - self._text.rfind("\n", 0, offset)

    # --- a statement that swallowed the next one -------------------------------------------------

    def _melted(self, chunk: list[Token], statement: Measurement | Evalues) -> bool:
        """Whether a misspelt verb melted into this statement; then everything is said and kept."""
        again = _repeated(statement.items)
        if again is None and not any(token[4] and token[0] == "NAME" for token in chunk[2:]):
            return False
        cuts = self._misspelt(chunk, most=1 if again is None else 2)
        if cuts:
            self._cut(chunk, cuts)
            return True
        if again is None:
            return False
        what, first, second = again
        head = self._head_between(chunk, first, second)
        if head:
            self.read(chunk[:head])
            self.findings.append(expectations.no_statement(chunk[head], None))
            self._break(chunk[head:])
        else:
            self.findings.append(expectations.twice(what, first, second))
            self._break(chunk)
        return True

    def _head_between(self, chunk: list[Token], first: Span, second: Span) -> int:
        """A word at the margin between two items, where a statement may begin: its index, or 0."""
        margin = self._column(chunk[0][2])
        for index, token in enumerate(chunk):
            if first.end <= token[2] < second.start and token[4] and token[0] == "NAME":
                following = chunk[index + 1]
                if following[0] in _WORDS and self._column(token[2]) <= margin:
                    return index
        return 0

    def _break(self, tokens: list[Token]) -> None:
        if tokens:
            self.broken.append(remains(tokens))


def _repeated(items: tuple[Item, ...]) -> tuple[str, Span, Span] | None:
    seen: dict[type[Item], Span] = {}
    for item in items:
        kind = type(item)
        if kind in _ONCE:
            if kind in seen:
                return _ONCE[kind], seen[kind], item.span
            seen[kind] = item.span
    return None
