"""Write the page of all methods from their own option models: `python -m dpql.documentation`."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from pydantic.fields import FieldInfo

from executors.registry import REGISTRY
from planner.bind.shapes import Shape, shapes_of
from planner.calculus.cost import WRITTEN
from planner.calculus.exact import text
from planner.mechanism import Derivation, Mechanism, Params

__all__ = ["PAGE", "main", "page"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "mechanisms.md"

_HEAD = """# Methods and functions

This page is generated from the methods of this version: do not edit it, run `make docs`.
`dpql explain METHOD` prints the same on a terminal.

What every method has in common:

- It reads columns with declared bounds. Values outside are moved to the nearest bound; missing or
  unreadable ones are replaced by a neutral value. Both happen silently, because how often they
  happen is itself private.
- Its noise is computed from the declared facts and its cost alone, before any row is read.
- Its guarantee is for one person's rows replaced, the number of rows fixed. The claim and its
  proof lie beside the code, in the `proof.md` of each method's folder.
- What stands under *It releases* is all that leaves, beside what the plan says already. No exact
  count, sum or row does, nor how many values were moved or missing.
- A cost is written in one of the units that the method honours, or as `n%` of a BUDGET; all of them
  can be converted into others where that is sound. An error lists the units that work.
- Options marked *forecast* are planning values: they feed the forecast, and what `auto` chooses
  by it. No promise of privacy, and no level of a test, rests on them.
"""


def page() -> str:
    """The whole page."""
    named = [
        REGISTRY.find(verb, name) for verb in REGISTRY.verbs() for name in REGISTRY.methods(verb)
    ]
    derived = [REGISTRY.derivation(name) for name in REGISTRY.derivations()]
    methods = [method for method in named if method is not None]
    functions = [function for function in derived if function is not None]
    lines = [_HEAD]
    for method in methods:
        lines += _method(method)
    lines += ["## Functions of DERIVE", ""]
    lines += ["They read a release that was paid for, so they cost nothing.", ""]
    for function in functions:
        lines += _function(function)
    return "\n".join(lines).rstrip() + "\n"


def _method(found: Mechanism) -> list[str]:
    lines = [f"## {found.verb} {found.method}", ""]
    if found.summary:
        lines += [_sentence(found.summary), ""]
    lines += ["It releases:", "", *[f"- {one}" for one in found.releases], ""]
    lines += [f"- Costs it can honour: {', '.join(f'`{WRITTEN[unit]}`' for unit in found.units)}"]
    lines += [f"- It reads: {_reads(found)}"]
    metrics = ", ".join(f"`{metric}`" for metric in found.metrics)
    lines += [f"- `EXPECT` may name: {metrics or 'nothing'}"]
    if found.plot is not None:
        lines += ["- It draws a plot: an `.svg` file beside the release's JSON"]
    lines += [f"- Version of its law: {found.version}", ""]
    return [*lines, *_options(found.params)]


def _function(found: Derivation) -> list[str]:
    lines = [f"### {found.name}", ""]
    if found.summary:
        lines += [_sentence(found.summary), ""]
    lines += [f"It takes a release of {', '.join(f'`{title}`' for title in found.accepts)}.", ""]
    if found.plot is not None:
        lines += ["It draws a plot: an `.svg` file beside its JSON.", ""]
    return [*lines, *_options(found.params)]


def _reads(found: Mechanism) -> str:
    if found.source == "evalues":
        return "a table of hypotheses with a `LOG_EVALUE` column"
    roles = [f"`{role.upper()}`" for role in found.roles]
    columns = "the columns of `COLUMNS`" if found.takes_columns else ""
    parts = [*(f"a column of type {role}" for role in roles), columns]
    return ", ".join(part for part in parts if part)


def _options(model: type[Params]) -> list[str]:
    if not model.model_fields:
        return ["No options.", ""]
    shapes = shapes_of(model)
    lines = ["| Option | Takes | Default | Meaning |", "| --- | --- | --- | --- |"]
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        is_forecast = isinstance(extra, dict) and extra.get("forecast") is True
        meaning = ("*forecast*: " if is_forecast else "") + (field.description or "")
        default = _default(field)
        lines.append(_row([f"`{name}`", _takes(shapes[name]), default, meaning]))
    return [*lines, ""]


def _takes(shape: Shape) -> str:
    return f"{shape.versus.says()}, `VS`, the same" if shape.versus else shape.says()


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value = field.default
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "not set" if not value else "`true`"
    return f"`{text(value) if isinstance(value, Fraction) else value}`"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sentence(said: str) -> str:
    return said[:1].upper() + said[1:].rstrip(".") + "."


def main() -> None:
    """Write the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
