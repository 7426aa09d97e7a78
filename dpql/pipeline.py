"""The corridor from a text to a plan: parse, bind, check, plan."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grammar.diagnostics import Diagnostic, has_errors
from grammar.source import Source

if TYPE_CHECKING:
    from planner.checked import CheckedPlan
    from planner.facts import PublicTable
    from planner.planned import Plan

__all__ = ["Checked", "Planned", "check_source", "plan_source", "read_source"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a file without sensitivities; `plan` is None where there is an error."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    plan: CheckedPlan | None

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not has_errors(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Planned:
    """A file planned: its findings, and the plan if there is no error."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    checked: CheckedPlan | None
    plan: Plan | None

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not has_errors(self.diagnostics)


def read_source(path: str | Path) -> tuple[Source, Diagnostic | None]:
    """A file's text; `-` is standard input. A file that is no text comes with the finding.

    Raises OSError where the file cannot be read.
    """
    from grammar import limits
    from grammar.encoding import read

    if str(path) == "-":
        raw = sys.stdin.buffer.read(limits.BYTES + 4)
    else:
        with Path(path).open("rb") as file:
            raw = file.read(limits.BYTES + 4)
    return read(str(path), raw)


def check_source(source: Source, tables: tuple[PublicTable, ...] = ()) -> Checked:
    """Parse, bind and check a text; `tables` are the public tables known by then."""
    from executors.registry import REGISTRY
    from grammar.parser import parse
    from planner.bind.script import bind
    from planner.check import check

    script, said = parse(source)
    bound, more = bind(script, REGISTRY, tables)
    found = said + more
    if has_errors(found):
        return Checked(source, found, None)
    checked, last = check(bound)
    found += last
    return Checked(source, found, None if has_errors(found) else checked)


def plan_source(source: Source, data: Mapping[str, str] | None = None) -> Planned:
    """Parse, bind, check and plan a text; `data` says where its public tables lie.

    Raises `UsageError` for a name that is no public table of the text, or a file that is none.
    """
    from planner.check import DRAWS_DEPEND, LEFT_OPEN
    from planner.plan import plan

    checked = check_source(source)
    if data and checked.plan is not None:
        from dpql.public_table import tables_of

        checked = check_source(source, tables_of(checked.plan.bound, data))
    if checked.plan is None:
        return Planned(source, checked.diagnostics, None, None)
    planned, more = plan(checked.plan)
    said = tuple(one for one in checked.diagnostics if one.code not in (LEFT_OPEN, DRAWS_DEPEND))
    found = said + more
    known = checked.plan if planned is None else planned.checked
    return Planned(source, found, known, None if has_errors(found) else planned)
