"""`dpql explain`: a page for every code, verb, method, function of DERIVE and option."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from typing import Any

from dpql.commands.statements import STATEMENTS
from dpql.failing import FINDINGS, OK, say
from executors.registry import REGISTRY
from planner.bind.shapes import shapes_of
from planner.calculus.cost import WRITTEN
from planner.calculus.exact import text
from planner.findings import choices
from planner.mechanism import Derivation, Mechanism

__all__ = ["code_page", "codes", "method_page", "run"]

_CODE = re.compile(r"(?:DPQL-?)?([EW]?)(\d{1,3})", re.IGNORECASE)
_ELSE = "try a code (`E071`), a verb (`TEST`), a method (`cox`), an option (`level`), or `BUDGET`"
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

`dpql plan` shows every cost in every unit in which it may be claimed, rounded up. An eps at a delta
says where it comes from: the total in mu or rho, the profile of a single draw, the composition of
all draws on a grid (PLD), or what was declared. As the value of an option, `auto` lets the method
choose; `dpql explain METHOD` says how."""


def run(word: str, method: str | None) -> int:
    """Print the page of a word; 1, with the nearest words, where there is none."""
    page = _page(word, method)
    if page is None:
        say(f"error: nothing is known of `{word if method is None else f'{word} {method}'}`")
        say("help: " + _nearest(word, method))
        return FINDINGS
    print(page)
    return OK


def _nearest(word: str, method: str | None) -> str:
    verb = word.upper()
    if method is not None and verb in REGISTRY.verbs():
        return choices(method, REGISTRY.methods(verb), f"methods of {verb}")
    near = choices(word, [*codes(), *_words()], "")
    return near if near.startswith("did you mean") else _ELSE


def codes() -> list[str]:
    """Every code that has a page."""
    folder = files("dpql") / "codes"
    return sorted(page.name.removesuffix(".md") for page in folder.iterdir())


def code_page(code: str) -> str | None:
    """The page of a code, with or without its `DPQL-`, its letter and its first zeros."""
    match = _CODE.fullmatch(code)
    if match is None:
        return None
    for letter in match[1].upper() or "EW":
        page = files("dpql") / "codes" / f"DPQL-{letter}{int(match[2]):03}.md"
        if page.is_file():
            return page.read_text("utf-8")
    return None


def _page(word: str, method: str | None) -> str | None:
    page = code_page(word)
    if page is not None:
        return page.rstrip()
    verb, name = word.upper(), word.casefold()
    if method is not None:
        return _page_of(verb, method.casefold())
    if verb in REGISTRY.verbs():
        return _verb_page(verb)
    if verb in STATEMENTS:
        return STATEMENTS[verb]
    if verb == "DERIVE":
        return _derive_page()
    pages = [_page_of(known, name) for known in (*REGISTRY.verbs(), "DERIVE")]
    found = [page for page in pages if page is not None]
    if found:
        return "\n\n".join(found)
    return _COST_PAGE if name in _COST_WORDS else _option_page(name)


def _page_of(verb: str, name: str) -> str | None:
    """The page of a method of a verb, or of a function of DERIVE."""
    if verb == "DERIVE":
        function = REGISTRY.derivation(name)
        return None if function is None else _function_page(function)
    method = REGISTRY.find(verb, name)
    return None if method is None else method_page(method)


def _words() -> list[str]:
    methods = [m for verb in REGISTRY.verbs() for m in REGISTRY.methods(verb)]
    functions = REGISTRY.derivations()
    options = {name for _, found in _all() for name in found.params.model_fields}
    costs = [word for word in _COST_WORDS if len(word) > 3]
    verbs = [*REGISTRY.verbs(), "DERIVE", *STATEMENTS]
    return [*verbs, *methods, *functions, *costs, *sorted(options)]


def _all() -> Iterator[tuple[str, Mechanism | Derivation]]:
    """Every method and every function of DERIVE, with its title."""
    for verb in REGISTRY.verbs():
        for name in REGISTRY.methods(verb):
            method = REGISTRY.find(verb, name)
            if method is not None:
                yield f"{verb} {name}", method
    for name in REGISTRY.derivations():
        function = REGISTRY.derivation(name)
        if function is not None:
            yield f"DERIVE {name}", function


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
        if field.is_required():
            default = "; must be given"
        else:
            default = f"; default {_said(field.default)}"
        lines.append(f"  {name}: {field.description or ''}")
        lines.append(f"      takes {takes}{default}")
    return lines


def _option_page(word: str) -> str | None:
    lines: list[str] = []
    for title, found in _all():
        if word in found.params.model_fields:
            lines += ["", title, *_options(found, word)]
    return "\n".join([f"# option {word}", *lines]) if lines else None


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    return text(value) if isinstance(value, Fraction) else str(value)
