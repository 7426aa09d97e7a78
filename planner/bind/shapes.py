"""What values an option takes, read from the annotation of its field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from planner.calculus.exact import text
from planner.findings import Mistake, Undefined, choices
from planner.mechanism import ColumnName, Params, TableName, Versus
from planner.values import Value, Word, describe

__all__ = ["Shape", "shape_of", "shapes_of", "tables_named"]


@dataclass(slots=True)
class Shape:
    """The kinds of value that a field takes; several may be allowed.

    `limits` are those of its numbers, in words.
    """

    words: list[str] = field(default_factory=list)
    number: bool = False
    integer: bool = False
    limits: str = ""
    truth: bool = False
    text: bool = False
    column: bool = False
    table: bool = False
    item: Shape | None = None
    versus: Shape | None = None

    def says(self) -> str:
        """The kinds in the words of a message."""
        parts = [f"`{word}`" for word in self.words]
        parts += ["a number" + self.limits] if self.number else []
        parts += ["a whole number" + self.limits] if self.integer and not self.number else []
        parts += ["`true` or `false`"] if self.truth else []
        parts += ["a string in quotes"] if self.text else []
        parts += ["the name of a column"] if self.column else []
        parts += ["the name of a public table"] if self.table else []
        if self.item is not None:
            parts.append(f"a list, each {self.item.says()}")
        return " or ".join(parts) or "nothing"

    def take(self, name: str, value: Value) -> Any:
        """The value as the model wants it. Raises `Mistake` without a place."""
        if isinstance(value, Word):
            return self._word(name, value)
        if isinstance(value, bool):
            if self.truth:
                return value
        elif isinstance(value, Fraction):
            if self.number:
                return value
            if self.integer and value.denominator == 1:
                return int(value)
            if self.integer:
                raise self._wrong(name, text(value))
        elif isinstance(value, str):
            if self.text:
                return value
        elif self.item is not None:
            return tuple(self.item.take(name, part) for part in value)
        raise self._wrong(name, describe(value))

    def knows(self, word: str) -> bool:
        """Whether a bare word is one of the option's own."""
        return word.casefold() in (known.casefold() for known in self.words)

    def _word(self, name: str, value: Word) -> Any:
        if not value.quoted:
            for known in self.words:
                if known.casefold() == value.text.casefold():
                    return known
        if self.column or self.table:
            return value.text
        if self.item is not None and self.item.column:
            return (value.text,)
        if self.words:
            raise Undefined(
                value.text,
                code="DPQL-E043",
                message=f"`{name}` does not know `{value.text}`",
                help=choices(value.text, self.words, "it takes")
                if not (self.number or self.item)
                else f"it takes {self.says()}",
            )
        if value.text == "auto":
            raise Mistake(
                "DPQL-E043", f"`{name}` cannot be left to the planner", help=f"write {self.says()}"
            )
        raise Undefined(
            value.text,
            note=f"`{name}` takes {self.says()}",
            help=f"define it above with `LET {value.text} = ...`",
        )

    def _wrong(self, name: str, found: str) -> Mistake:
        return Mistake("DPQL-E043", f"`{name}` takes {self.says()}, not {found}")


@lru_cache(maxsize=512)
def shapes_of(model: type[Params]) -> dict[str, Shape]:
    """The shape of every field of a model."""
    shapes = {}
    for name, info in model.model_fields.items():
        shapes[name] = shape_of(info.annotation)
        shapes[name].limits = _limits(info.metadata) or shapes[name].limits
    return shapes


def tables_named(params: Params) -> dict[str, str]:
    """The public tables that options name, by option."""
    shapes = shapes_of(type(params))
    return {
        option: getattr(params, option)
        for option, shape in shapes.items()
        if shape.table and getattr(params, option) is not None
    }


def shape_of(annotation: Any) -> Shape:
    """The shape that a type annotation describes."""
    shape = Shape()
    _read(annotation, shape)
    return shape


def _read(annotation: Any, shape: Shape) -> None:
    origin = get_origin(annotation)
    if annotation is ColumnName:
        shape.column = True
    elif annotation is TableName:
        shape.table = True
    elif annotation is bool:
        shape.truth = True
    elif annotation is Fraction:
        shape.number = True
    elif annotation is int:
        shape.integer = True
    elif annotation is str:
        shape.text = True
    elif annotation is NoneType:
        pass
    elif origin in (Union, UnionType):
        for part in get_args(annotation):
            _read(part, shape)
    elif origin is Annotated:
        of, *told = get_args(annotation)
        _read(of, shape)
        for one in told:
            shape.limits = _limits(getattr(one, "metadata", ())) or shape.limits
    elif origin is Literal:
        shape.words += [str(word) for word in get_args(annotation)]
    elif origin is tuple:
        shape.item = shape_of(get_args(annotation)[0])
    elif isinstance(annotation, type) and issubclass(annotation, Versus):
        shape.versus = shape_of(annotation.model_fields["left"].annotation)
    else:
        raise TypeError(f"an option cannot have the type {annotation!r}")


def _limits(metadata: Iterable[Any]) -> str:
    """What a field's constraints allow, as it follows `a number`."""
    found = {
        name: _limit(Fraction(getattr(one, name)))
        for one in metadata
        for name in ("gt", "ge", "lt", "le")
        if getattr(one, name, None) is not None
    }
    if "ge" in found and "le" in found:
        return f" from {found['ge']} to {found['le']}"
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}
    parts = [f"{said} {found[name]}" for name, said in words.items() if name in found]
    return " " + " and ".join(parts) if parts else ""


def _limit(value: Fraction) -> str:
    written = text(value)
    is_tiny = value.numerator == 1 and written.startswith("0.0000")
    return f"1e-{len(written) - 2}" if is_tiny else written
