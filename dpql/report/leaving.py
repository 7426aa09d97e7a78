"""Which results leave a dataset, with which noise, and how good they will be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpql.report import words
from dpql.report.document import Block, Facts, Items, Paragraph, Section, Table

__all__ = ["quality", "releases"]

Json = Mapping[str, Any]

METRICS = ("power", "power_error", "precision", "stability")
"""The figures that are shown first: those of which more is better, each before its error."""


def releases(plan: Json) -> Section:
    """Each result in words, with its noise; then what is derived from them."""
    blocks: list[Block] = [
        Paragraph(
            "Only what is listed here leaves, each with the noise stated. No row, no exact count "
            "or sum, and no result that is not listed can be obtained by this plan."
        )
    ]
    for statement in plan["statements"]:
        title = f"{statement['name']}: {statement['verb']} {statement['method']}"
        source = ", ".join(
            on["dataset"] + (f", site {on['site']}" if on["site"] else "") for on in statement["on"]
        )
        blocks.append(Items(tuple(_sentence(one) for one in statement["releases"]), title))
        pairs = [("From", source)]
        if statement["columns"]:
            pairs.append(("Columns", ", ".join(statement["columns"])))
        pairs.append(("Options", "; ".join(words.options(statement["params"]))))
        for leaf in statement["leaves"]:
            place = f" at {leaf['site'] or leaf['dataset']}" if len(statement["on"]) > 1 else ""
            role = words.drawn_on(leaf) if len(statement["leaves"]) > len(statement["on"]) else ""
            pairs.append((f"Noise{role}{place}", words.noise(leaf)))
        blocks.append(Facts(tuple(pairs)))
    if plan["derived"]:
        blocks.append(
            Items(
                tuple(_derived(one) for one in plan["derived"]),
                "Computed from these results only, at no further cost",
            )
        )
    return Section("releases", "What leaves", tuple(blocks))


def _derived(one: Json) -> str:
    options = "; ".join(words.options(one["params"]))
    return f"{one['name']}: {one['function']} of {one['of']}" + (f" ({options})" if options else "")


def quality(plan: Json) -> Section:
    """The forecasts, and what the author said they must reach."""
    blocks: list[Block] = [
        Paragraph(
            "These forecasts were made from the declared facts and the author's planning values "
            "alone, before any row was read. They are estimates; no privacy claim rests on them."
        )
    ]
    expected = tuple(
        (
            one["release"],
            words.label(one["metric"]),
            f"at least {words.amount(one['at_least'])}",
            words.figure(one["forecast"]),
        )
        for one in plan["expect"]
    )
    if expected:
        blocks.append(
            Table(
                "What the author asks for, which the forecast reaches",
                ("Result", "Measure", "Asked for", "Forecast"),
                expected,
            )
        )
    for statement in plan["statements"]:
        pairs = _figures(statement["forecast"])
        if pairs:
            blocks.append(
                Facts(pairs, f"{statement['name']}: {statement['verb']} {statement['method']}")
            )
    return Section("quality", "How good the answers will be", tuple(blocks))


def _figures(forecast: Json) -> tuple[tuple[str, str], ...]:
    """The plain figures of a forecast, those of quality first."""
    plain = {
        name: value
        for name, value in forecast.items()
        if isinstance(value, int | float | str) and words.is_known(name)
    }
    first = [name for name in METRICS if name in plain]
    rest = [name for name in plain if name not in METRICS]
    return tuple((words.label(name), words.figure(plain[name])) for name in first + rest)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
