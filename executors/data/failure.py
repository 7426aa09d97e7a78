"""What stops a run at its data, without a word about a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["DataFailure", "guarded", "guarded_stream"]

Value = TypeVar("Value")


class DataFailure(Exception):
    """A coded failure at the data. `message` and `help` hold names, never a value of a row."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.help = help


def guarded(action: Callable[[], Value], failure: DataFailure) -> Value:
    """The value of `action`; `failure` instead of whatever an engine raises.

    Engines quote cells in their errors, and a chained exception would carry that text along. So
    the engine's exception is dropped before ours is raised: neither cause nor context remains.
    """
    try:
        return action()
    except DataFailure:
        raise
    except Exception:
        pass
    raise failure


def guarded_stream(stream: Iterator[Value], failure: DataFailure) -> Iterator[Value]:
    """The items of `stream`; `failure` instead of whatever an engine raises between them."""
    done = object()
    while True:
        item = guarded(lambda: next(stream, done), failure)
        if item is done:
            return
        yield item  # type: ignore[misc]  # `done` never leaves
