"""The custodian's policy file."""

from __future__ import annotations

from pathlib import Path

from dpql.errors import UsageError
from dpql.pipeline import read_source
from grammar import tree
from grammar.diagnostics import Diagnostic, has_errors
from grammar.parser import parse
from grammar.render import render_text
from planner.checked import CheckedPlan
from planner.policy import judge_policy

__all__ = ["judge"]


def judge(checked: CheckedPlan, path: Path) -> tuple[Diagnostic, ...]:
    """What a policy file finds in a plan. Raises `UsageError` where the file holds no policy."""
    source, unreadable = read_source(path)
    if unreadable is not None:
        raise UsageError(f"`{path}` is no policy file: {unreadable.message}")
    script, findings = parse(source)
    if has_errors(findings):
        raise UsageError(f"`{path}` has errors\n{render_text([(source, findings)])}")
    policies = [one for one in script.statements if isinstance(one, tree.Policy)]
    if len(policies) != len(script.statements):
        raise UsageError(f"`{path}` holds other statements than POLICY")
    return judge_policy(checked, policies, source)
