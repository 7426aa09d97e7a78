"""`dpql plan --allocate`: a proposed split of every BUDGET, which changes nothing by itself."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from dpql.allocation import Allocated, allocated
from dpql.commands.run import pairs
from dpql.failing import FINDINGS, OK, USAGE, say
from dpql.pipeline import read_source

__all__ = ["FORMATS", "run"]

FORMATS = ("text", "json")


def run(
    file: Path,
    output: Path | None,
    format: str,
    asked: bool,
    keep: list[str],
    weights: list[str],
    data: list[str],
    other: object,
) -> int:
    """Print a proposal; write the query with the proposed costs where `output` says so.

    `asked` tells that `--allocate` was given; `other` is any option that does not go with it.
    """
    if not asked:
        say("error: `--keep` and `--weight` go with `--allocate`")
        return USAGE
    if other is not None:
        say("error: `--allocate` splits the BUDGET of the file; it asks no ledger and no policy")
        say("help: plan what it proposes with `--ledger` and `--policy`")
        return USAGE
    if format not in FORMATS:
        say(f"error: `--format {format}` does not go with `--allocate`; text and json do")
        return USAGE
    if output is not None and output.resolve() == file.resolve():
        say(f"error: `{output}` is the query itself, and a proposal never replaces it")
        say("help: write to another file, compare, then decide")
        return USAGE
    given: dict[str, Fraction] = {}
    for one in weights:
        name, _, written = one.rpartition("=")
        weight = _weight(written)
        if not name or weight is None:
            say(f"error: `--weight {one}` is not NAME=W with a number W above 0")
            return USAGE
        given[name] = weight
    source, unreadable = read_source(file)
    if unreadable is not None:
        made = Allocated(source, (unreadable,))
    else:
        places = pairs(data, "--data", required=True)
        if places is None:
            return USAGE
        made = allocated(source, frozenset(keep), given, places)
    print(_printed(made, format), end="")
    if output is not None and made.text is not None:
        from dpql.output import write_text

        write_text(output, made.text)
        say(f"wrote {output}")
    return OK if made.ok else FINDINGS


def _weight(written: str) -> Fraction | None:
    from planner.calculus.exact import number

    try:
        weight = number(written)
    except ValueError:
        return None
    return weight if weight > 0 else None


def _printed(made: Allocated, format: str) -> str:
    if format == "json":
        return json.dumps(made.json(), indent=2, ensure_ascii=False) + "\n"
    return str(made)
