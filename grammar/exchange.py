"""Findings for other programs: JSON, SARIF 2.1.0, GitHub's workflow commands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from grammar.diagnostics import Diagnostic, Severity, has_errors
from grammar.display import safe
from grammar.render import Report
from grammar.source import Source, Span

__all__ = ["SCHEMA", "render_github", "render_json", "render_sarif"]

SCHEMA = "dpql/1"
"""The version that every JSON document of DPQL names."""
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_json(reports: Iterable[Report]) -> str:
    """`{"schema","ok","diagnostics"}`; `ok` tells that no finding is an error."""
    given = [(source, tuple(findings)) for source, findings in reports]
    form = {
        "schema": SCHEMA,
        "ok": not any(has_errors(findings) for _, findings in given),
        "diagnostics": [finding.json(source) for source, findings in given for finding in findings],
    }
    return json.dumps(form, indent=2) + "\n"


def render_sarif(reports: Iterable[Report], version: str = "") -> str:
    """A SARIF 2.1.0 log with one run; columns are counted in Unicode code points from 1."""
    rules: dict[str, int] = {}
    results: list[dict[str, Any]] = []
    for source, findings in reports:
        for finding in findings:
            number = rules.setdefault(finding.code, len(rules))
            results.append(_result(source, finding, number))
    driver: dict[str, Any] = {"name": "dpql", "rules": [{"id": code} for code in rules]}
    if version:
        driver["version"] = version
    form = {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(form, indent=2) + "\n"


def _result(source: Source, finding: Diagnostic, rule: int) -> dict[str, Any]:
    text = finding.message
    for word, more in (("note", finding.note), ("help", finding.help)):
        text += f"\n{word}: {more}" if more else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity.value,
        "message": {"text": text},
        "locations": [_location(source, finding.span)],
    }
    if finding.labels:
        result["relatedLocations"] = [
            _location(source, label.span) | {"message": {"text": label.text}}
            for label in finding.labels
        ]
    return result


def _location(source: Source, span: Span | None) -> dict[str, Any]:
    # A relative reference whose first segment holds a colon would read as a scheme.
    uri = quote(source.name.replace("\\", "/"), safe="/-._~")
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if span is not None:
        line, column = source.place(span.start)
        end_line, end_column = source.place(span.end)
        place["region"] = {
            "startLine": line,
            "startColumn": column,
            "endLine": end_line,
            "endColumn": end_column,
        }
    return {"physicalLocation": place}


def render_github(reports: Iterable[Report]) -> str:
    """One workflow command a finding, as GitHub shows them beside the lines of a change."""
    lines = []
    for source, findings in reports:
        for finding in findings:
            properties = {"file": source.name}
            if finding.span is not None:
                line, column = source.place(finding.span.start)
                end_line, end_column = source.place(finding.span.end)
                properties |= {"line": str(line), "endLine": str(end_line)}
                if line == end_line:
                    properties |= {"col": str(column), "endColumn": str(end_column)}
            properties["title"] = finding.code
            text = finding.message
            for word, more in (("note", finding.note), ("help", finding.help)):
                text += f"\n{word}: {more}" if more else ""
            given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
            lines.append(f"::{_COMMANDS[finding.severity]} {given}::{_data(text)}\n")
    return "".join(lines)


def _data(text: str) -> str:
    lines = (safe(line).replace("%", "%25") for line in text.split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return safe(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
