"""A file for every method of the catalogue: its units, its options, all functions.

It is written from the option models themselves, so that a new method, option or function is in it
without an edit here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from dpql.api import PlanResult, check, plan
from executors.registry import REGISTRY
from planner.bind.shapes import Shape, shapes_of
from planner.mechanism import Mechanism, Params

__all__ = ["ROWS", "at_the_edges", "methods", "plan_of"]

ROWS = {"a": 40, "b": 50, "hits": 12}
"""Few rows: the noise is large beside what it is added to."""

_COLUMNS = (("x", "y", "arm"), ("x", "y"), ("x",))
_COSTS = {"eps": "eps=1", "eps_delta": "eps=1, delta=1e-6", "rho": "rho=0.1", "mu": "mu=0.5"}
_PEOPLE = """\
DATASET {name} ROWS {rows}
  COLUMNS (time DURATION IN [0, 10], event EVENT, arm BOOLEAN, x REAL IN [0, 1], y REAL IN [-3, 5])
  NORM (x, y) <= 3
"""
_HITS = """\
DATASET hits ROWS {rows}
  COLUMNS (gene ID, log_e LOG_EVALUE SENSITIVITY 0.3 ASSERTED_BY 'the laboratory')
"""


def methods() -> dict[str, Mechanism]:
    """Every method by its title."""
    found = [
        REGISTRY.find(verb, name) for verb in REGISTRY.verbs() for name in REGISTRY.methods(verb)
    ]
    return {f"{method.verb} {method.method}": method for method in found if method is not None}


def plan_of(method: Mechanism) -> PlanResult:
    """The plan of one file with all statements of a method, and all that can be derived."""
    datasets = _datasets(method)
    lines = []
    for place, statement in enumerate(_statements(method, datasets)):
        lines.append(f"{statement} AS s{place}")
        lines += _derived(method, f"s{place}", datasets + lines[-1])
    made = plan(datasets + "\n".join(lines))
    assert made.ok, str(made)
    return made


def at_the_edges(method: Mechanism) -> Iterator[str]:
    """Files in which one option has the least or the largest number that it takes, or nearly."""
    datasets = _datasets(method)
    for name, field in method.params.model_fields.items():
        for number in sorted({_written(edge) for edge in _edges(field.metadata, field.annotation)}):
            option = f"{name}={number}"
            for unit in dict.fromkeys((method.units[0], method.units[-1])):
                found = _accepted(method, datasets, unit, option, _COLUMNS)
                yield datasets + (found or _statement(method, unit, option, "", _COLUMNS[0]))


def _edges(metadata: Iterable[Any], annotation: Any) -> Iterator[Fraction]:
    """The bounds of a field; of an open one, the last number inside that a file can write."""
    near = Fraction(1, 10**59)
    for one in metadata:
        if isinstance(one, FieldInfo):
            yield from _edges(one.metadata, None)
        for kind, name, inward in (
            (Ge, "ge", 0),
            (Le, "le", 0),
            (Gt, "gt", near),
            (Lt, "lt", -near),
        ):
            if isinstance(one, kind):
                yield Fraction(getattr(one, name)) + inward
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from _edges(more, inner)
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _edges((), part)


def _written(value: Fraction) -> str:
    """A terminating decimal."""
    places = next(k for k in range(61) if (value * 10**k).denominator == 1)
    return f"{Decimal(int(value * 10**places)).scaleb(-places):f}"


def _datasets(method: Mechanism) -> str:
    if method.source == "evalues":
        return _HITS.format(rows=ROWS["hits"])
    names = ("a", "b") if method.compares else ("a",)
    return "".join(_PEOPLE.format(name=name, rows=ROWS[name]) for name in names)


def _statements(method: Mechanism, datasets: str) -> Iterator[str]:
    """A bare one for each unit and number of columns; then one for each option."""
    for unit in method.units:
        found = [
            _accepted(method, datasets, unit, "", (columns,))
            for columns in (_COLUMNS if method.takes_columns else ((),))
        ]
        assert any(found), f"no statement of {method.verb} {method.method} in {unit} is accepted"
        yield from filter(None, found)
    for place, option in enumerate(_options(method.params)):
        unit = method.units[-1 - place % len(method.units)]
        for one in (unit, *method.units):
            found = _accepted(method, datasets, one, option, _COLUMNS)
            if found:
                yield found
                break


def _accepted(
    method: Mechanism, datasets: str, unit: str, option: str, columns: tuple[tuple[str, ...], ...]
) -> str:
    """The statement as `check` accepts it, with one more option if need be; empty if it never."""
    for names in columns:
        for more in ("", *_options(method.params)):
            if option and option.split("=")[0] == more.split("=")[0]:
                continue
            statement = _statement(method, unit, option, more, names)
            if check(datasets + statement).ok:
                return statement
    return ""


def _statement(
    method: Mechanism, unit: str, option: str, more: str, columns: tuple[str, ...]
) -> str:
    on = "ON a VS b" if method.compares else ""
    about = f"COLUMNS ({', '.join(columns)})" if method.takes_columns else ""
    head = f"{method.verb} {method.method} {on} {' '.join(_required(method.params, columns))}"
    return f"{head} {option} {more} {about} {_COSTS[unit]}"


def _options(model: type[Params]) -> list[str]:
    """Every word of every option, every flag, a small number where a whole one is taken."""
    found = []
    for name, shape in shapes_of(model).items():
        if not model.model_fields[name].is_required():
            found += [f"{name}={word}" for word in shape.words]
            found += [name.upper()] if shape.truth else []
            found += [f"{name}=3"] if shape.integer else []
    return found


def _required(model: type[Params], columns: tuple[str, ...]) -> list[str]:
    """What must be written, filled in by its shape."""
    return [
        f"{name}={_value(shape, columns)}"
        for name, shape in shapes_of(model).items()
        if model.model_fields[name].is_required()
    ]


def _value(shape: Shape, columns: tuple[str, ...]) -> str:
    if shape.versus is not None:
        return f"{_value(shape.versus, columns)} VS [{', '.join('0.5' for _ in columns)}]"
    if shape.column:
        return columns[0] if columns else "arm"
    return f"[{', '.join('0' for _ in columns)}]" if shape.item is not None else "3"


def _derived(method: Mechanism, name: str, text: str) -> Iterator[str]:
    """Every function that takes the release; of the first two with each of its options."""
    for known in REGISTRY.derivations():
        function = REGISTRY.derivation(known)
        assert function is not None
        if f"{method.verb} {method.method}" not in function.accepts:
            continue
        options = _options(function.params) if name in ("s0", "s1") else []
        for place, option in enumerate(["", *options]):
            parts = [name, *_required(function.params, ("x",)), *([option] if option else [])]
            line = f"DERIVE {known}_{name}_{place} = {known}({', '.join(parts)})"
            if check(f"{text}\n{line}").ok:
                yield line
