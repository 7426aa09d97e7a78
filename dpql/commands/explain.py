"""`dpql explain`: a page for every code, verb, method, function of DERIVE and option."""

from __future__ import annotations

import re
from fractions import Fraction
from importlib.resources import files
from typing import Any

from pydantic_core import PydanticUndefined

from dpql.failing import FINDINGS, OK, say
from executors.registry import REGISTRY
from planner.bind.shapes import shapes_of
from planner.calculus.cost import WRITTEN
from planner.calculus.exact import text
from planner.findings import choices
from planner.mechanism import Derivation, Mechanism

__all__ = ["code_page", "codes", "method_page", "run"]

_CODE = re.compile(r"(?:DPQL-)?([EW]\d{3})", re.IGNORECASE)
_COST_WORDS = ("auto", "budget", "cost", "delta", "eps", "mu", "rho")
_COST_PAGE = """\
# costs

A measurement says what it may spend, with or without the word BUDGET before it:

  eps=e            pure differential privacy; eps adds up
  eps=e, delta=d   approximate differential privacy; DPQL has no default delta
  rho=r            zero-concentrated differential privacy; rho adds up
  mu=m             Gaussian differential privacy; the squares of mu add up
  n%               a share of what adds up in the dataset's BUDGET
  auto             the least that meets every EXPECT on the measurement, found by `dpql plan`
                   before any row is read; a number is written into the plan beside the word

`dpql plan --format json` shows every cost in every unit in which it may be claimed. As the value
of an option, `auto` lets the method choose; `dpql explain METHOD` says how."""


def run(word: str, method: str | None) -> int:
    """Print the page of a word; 1, with the nearest words, where there is none."""
    page = _page(word, method)
    if page is None:
        say(f"error: nothing is known of `{word if method is None else f'{word} {method}'}`")
        say("help: " + choices(word, [*codes(), *_words()], "for example"))
        return FINDINGS
    print(page)
    return OK


def codes() -> list[str]:
    """Every code that has a page."""
    folder = files("dpql") / "codes"
    return sorted(page.name.removesuffix(".md") for page in folder.iterdir())


def code_page(code: str) -> str | None:
    """The page of a code, with or without its `DPQL-`."""
    match = _CODE.fullmatch(code)
    if match is None:
        return None
    page = files("dpql") / "codes" / f"DPQL-{match[1].upper()}.md"
    return page.read_text("utf-8") if page.is_file() else None


def _page(word: str, method: str | None) -> str | None:
    page = code_page(word)
    if page is not None:
        return page
    verb = word.upper()
    if verb in REGISTRY.verbs():
        if method is None:
            return _verb_page(verb)
        found = REGISTRY.find(verb, method.casefold())
        return None if found is None else method_page(found)
    for known in REGISTRY.verbs():
        if word.casefold() in REGISTRY.methods(known):
            found = REGISTRY.find(known, word.casefold())
            return None if found is None else method_page(found)
    function = REGISTRY.derivation((method if verb == "DERIVE" and method else word).casefold())
    if function is not None:
        return _function_page(function)
    if verb == "DERIVE":
        return None if method else _derive_page()
    if word.casefold() in _COST_WORDS:
        return _COST_PAGE
    return _option_page(word.casefold())


def _words() -> list[str]:
    methods = [m for verb in REGISTRY.verbs() for m in REGISTRY.methods(verb)]
    return [*REGISTRY.verbs(), "DERIVE", *methods, *REGISTRY.derivations()]


def _verb_page(verb: str) -> str:
    lines = [f"# {verb}", ""]
    for name in REGISTRY.methods(verb):
        found = REGISTRY.find(verb, name)
        if found is not None:
            lines.append(f"{verb} {name}: {found.summary or '; '.join(found.releases)}")
    return "\n".join([*lines, "", f"`dpql explain {verb} METHOD` lists a method's options."])


def _derive_page() -> str:
    lines = ["# DERIVE", ""]
    for name in REGISTRY.derivations():
        found = REGISTRY.derivation(name)
        if found is not None:
            lines.append(f"{name}(...): {found.summary}")
    return "\n".join([*lines, "", "`dpql explain FUNCTION` lists a function's options."])


def _function_page(found: Derivation) -> str:
    """What a function of DERIVE makes of which releases, with all its options."""
    lines = [
        f"# DERIVE name = {found.name}(release, ...)",
        "",
        *([found.summary, ""] if found.summary else []),
        "Takes: " + ", ".join(found.accepts) + ". It reads no data and costs nothing.",
    ]
    options = _options(found)
    return "\n".join([*lines, *(["", "Options:", *options] if options else ["", "No options."])])


def method_page(found: Mechanism) -> str:
    """What a method releases, which costs it takes, and all its options."""
    lines = [
        f"# {found.verb} {found.method}",
        "",
        *([found.summary, ""] if found.summary else []),
        "Releases: " + "; ".join(found.releases) + ".",
        "Costs: "
        + " or ".join(f"`{WRITTEN[unit]}`" for unit in found.units)
        + "; or `n%` of the dataset's BUDGET"
        + ("; or `auto`, the least that meets its EXPECT" if found.metrics else "")
        + ".",
    ]
    if found.metrics:
        lines.append("Forecast, for EXPECT: " + ", ".join(found.metrics) + ".")
    return "\n".join([*lines, "", "Options:", *_options(found)])


def _options(found: Mechanism | Derivation, only: str = "") -> list[str]:
    shapes = shapes_of(found.params)
    lines = []
    for name, field in found.params.model_fields.items():
        if only and name != only:
            continue
        shape = shapes[name]
        takes = f"{shape.versus.says()}, VS the same" if shape.versus else shape.says()
        default = "" if field.default is PydanticUndefined else f"; default {_said(field.default)}"
        lines.append(f"  {name}: {field.description or ''}")
        lines.append(f"      takes {takes}{default}")
    return lines


def _option_page(word: str) -> str | None:
    lines: list[str] = []
    for verb in REGISTRY.verbs():
        for name in REGISTRY.methods(verb):
            found = REGISTRY.find(verb, name)
            if found is not None and word in found.params.model_fields:
                lines += [f"{verb} {name}", *_options(found, word), ""]
    return "\n".join([f"# option {word}", "", *lines]) if lines else None


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    return text(value) if isinstance(value, Fraction) else str(value)
