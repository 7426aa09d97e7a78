"""Which rows count when a person may own several.

The relation fixes which rows belong to which unit; only the contents of one unit's rows change.
A unit keeps its first `MAX k` rows in row order; its later rows are neutralised in place. The
rule looks at one unit's rows alone, and at no content, so the kept rows of neighbours are the
same rows, at most k of them differ, and the group price of k record steps holds.

A row without a unit (NULL, NaN, or text that is empty or blank) could be anyone's, also a person's
who already fills his k rows. So all such rows are neutralised: they are constants, and whatever is
changed in them changes no summary. Two units are the same where the stored values are equal.
"""

from __future__ import annotations

from executors.data.kinds import StoredKind

__all__ = ["is_missing_unit"]


def is_missing_unit(column: str, kind: StoredKind) -> str:
    """An SQL condition: the unit in this column is unknown."""
    if kind == "text":
        return f"({column} is null or regexp_full_match({column}, '[ \\t\\r\\n]*'))"
    if kind == "real":
        return f"({column} is null or isnan({column}))"
    return f"({column} is null)"
