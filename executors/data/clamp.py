"""The one clamp: how a stored value becomes a number inside public bounds.

There is one SQL form for engines and one numpy form for Arrow batches. Both take a value in two
steps, first to a double, then into the bounds:

1. *Number.* Integers and reals are converted to the nearest double. A decimal is read through its
   text. A boolean is 1 or 0. Text is a number if it is a plain decimal number with an optional
   exponent, the word inf or infinity with an optional sign, or the word true or false (1 or 0);
   words in any case, ASCII blanks around them allowed. So `nan`, `0x10`, `1_000`, `1,5` and the
   empty text are no numbers, and `1e999` is infinite.
2. *Clamp.* NULL, NaN, infinities and what is no number become the fill. The rest is moved into
   [lo, hi]. Negative zero comes out as zero. A plain column keeps infinities.

Engines disagree on NULL, NaN and infinities inside `least` and `greatest`; the range test keeps
all of them out of there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from executors.data.kinds import StoredKind, stored_kind
from executors.data.source import Clamp, Flag, Level, Plain, Selection

__all__ = ["sql_form", "values"]

_BLANK = "[ \\t\\r\\n]*"
_DECIMAL = "([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
_INFINITE = "[iI][nN][fF]([iI][nN][iI][tT][yY])?"
_NUMERAL = f"{_BLANK}[+-]?({_DECIMAL}|{_INFINITE}){_BLANK}"
_TRUE = f"{_BLANK}[tT][rR][uU][eE]{_BLANK}"
_FALSE = f"{_BLANK}[fF][aA][lL][sS][eE]{_BLANK}"
_LARGEST = 1.7976931348623157e308

_numeral = re.compile(_NUMERAL).fullmatch
_true = re.compile(_TRUE).fullmatch
_false = re.compile(_FALSE).fullmatch

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]


def sql_form(selection: Selection, column: str, kind: StoredKind, late: str | None = None) -> str:
    """The SQL expression of a selection over `column`, an SQL expression of the stored kind.

    `late` is an SQL condition under which the row counts as missing (rows beyond `MAX k`).
    """
    if isinstance(selection, Plain) and selection.type == "text":
        body = f"cast({column} as varchar)"
        return body if late is None else f"case when {late} then null else {body} end"
    if isinstance(selection, Level):
        text = f"cast({column} as varchar)"
        whens = " ".join(
            f"when {text} = {_quoted(level)} then {_double(float(index))}"
            for index, level in enumerate(selection.levels)
        )
        return _case(late, whens, _fill(selection.fill))
    number = _sql_number(column, kind)
    if isinstance(selection, Flag):
        whens = f"when {number} = 1 then {_double(1.0)} when {number} = 0 then {_double(0.0)}"
        return _case(late, whens, _fill(selection.fill))
    inside = f"{number} between {_double(-_LARGEST)} and {_double(_LARGEST)}"
    if isinstance(selection, Plain):
        return _case(late, f"when not isnan({number}) then {number}", _fill(None))
    lo, hi = _double(_finite(selection.lo)), _double(_finite(selection.hi))
    # Adding zero turns a negative zero into zero, whichever of the two the engine had picked.
    moved = f"least(greatest({number}, {lo}), {hi}) + {_double(0.0)}"
    return _case(late, f"when {inside} then {moved}", _fill(selection.fill))


def values(selection: Selection, column: pa.Array, late: Marks | None = None) -> pa.Array:
    """The selection over an Arrow array: the same doubles as `sql_form` gives.

    `late` marks the rows that count as missing (rows beyond `MAX k`).
    """
    if isinstance(selection, Plain) and selection.type == "text":
        text = pc.cast(_decoded(column), pa.string())
        return text if late is None else pc.if_else(pa.array(~late), text, None)
    if isinstance(selection, Level):
        number = _by_text(column, _level_reader(selection.levels))
        return _filled(number, selection.fill, late)
    with np.errstate(all="ignore"):  # a warning must not depend on a value
        return _numeric(selection, _number(column), late)


def _numeric(selection: Clamp | Flag | Plain, number: Floats, late: Marks | None) -> pa.Array:
    if isinstance(selection, Flag):
        number = np.where((number == 0.0) | (number == 1.0), number + 0.0, np.nan)
        return _filled(number, selection.fill, late)
    if isinstance(selection, Plain):
        return _masked(number, _kept(~np.isnan(number), late), None)
    lo, hi = _finite(selection.lo), _finite(selection.hi)
    buffer = pa.allocate_buffer(number.nbytes)  # a fresh numpy array would cost page faults
    moved: Floats = np.frombuffer(buffer, dtype=np.float64)
    np.clip(number, lo, hi, out=moved)
    moved += 0.0
    if late is None and np.isfinite(number.sum()):  # a finite sum has finite terms only
        return pa.Array.from_buffers(pa.float64(), len(number), [None, buffer])
    return _masked(moved, _kept(np.isfinite(number), late), selection.fill)


def _filled(number: Floats, fill: float | None, late: Marks | None) -> pa.Array:
    return _masked(number, _kept(np.isfinite(number), late), fill)


def _kept(is_number: Marks, late: Marks | None) -> Marks:
    return is_number if late is None else is_number & ~late


def _masked(number: Floats, is_number: Marks, fill: float | None) -> pa.Array:
    if fill is None:
        return pa.array(np.where(is_number, number, 0.0), mask=~is_number)
    return pa.array(np.where(is_number, number, _finite(fill) + 0.0))


def _number(column: pa.Array) -> Floats:
    """The doubles of a stored column; NaN for NULL and for what is no number."""
    kind = stored_kind(column.type)
    if kind == "text":
        return _by_text(column, _read_numeral)
    if kind == "decimal":
        return _by_text(pc.cast(_decoded(column), pa.string()), _read_numeral)
    if kind == "other":
        return np.full(len(column), np.nan)
    column = _decoded(column)
    missing = column.null_count
    if kind == "boolean":
        column = pc.cast(column, pa.uint8())
    if missing:
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        column = pc.fill_null(column, pa.scalar(0, column.type))
    number: Floats = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return np.where(valid, number, np.nan) if missing else number


def _by_text(column: pa.Array, read: Callable[[str], float]) -> Floats:
    """`read` of each distinct text; NaN for NULL."""
    coded = pc.cast(_decoded(column), pa.large_string()).dictionary_encode()
    table = np.array([*map(read, coded.dictionary.to_pylist()), np.nan], dtype=np.float64)
    codes = pc.fill_null(coded.indices, len(table) - 1).to_numpy(zero_copy_only=False)
    read_back: Floats = table[codes]
    return read_back


def _read_numeral(text: str) -> float:
    if _numeral(text):
        return float(text)
    return 1.0 if _true(text) else 0.0 if _false(text) else math.nan


def _level_reader(levels: tuple[str, ...]) -> Callable[[str], float]:
    index = {level: float(place) for place, level in reversed(tuple(enumerate(levels)))}
    return lambda text: index.get(text, math.nan)


def _decoded(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    return column


def _sql_number(column: str, kind: StoredKind) -> str:
    if kind in ("real", "integer"):
        return f"cast({column} as double)"
    if kind == "decimal":
        return f"cast(cast({column} as varchar) as double)"
    if kind == "boolean":
        return f"cast(cast({column} as integer) as double)"
    if kind == "other":
        return "cast(null as double)"
    return (
        f"case when regexp_full_match({column}, {_quoted(_NUMERAL)})"
        f" then try_cast({column} as double)"
        f" when regexp_full_match({column}, {_quoted(_TRUE)}) then {_double(1.0)}"
        f" when regexp_full_match({column}, {_quoted(_FALSE)}) then {_double(0.0)} end"
    )


def _case(late: str | None, whens: str, otherwise: str) -> str:
    first = "" if late is None else f"when {late} then {otherwise} "
    return f"case {first}{whens} else {otherwise} end"


def _fill(fill: float | None) -> str:
    return "cast(null as double)" if fill is None else _double(_finite(fill) + 0.0)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("the bounds and the fill of a clamp are finite")
    return float(number)


def _double(number: float) -> str:
    return f"cast('{number!r}' as double)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
