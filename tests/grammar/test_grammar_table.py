"""The shipped table is the grammar's."""

from __future__ import annotations

from grammar.table import SHIPPED, build


def test_the_shipped_table_equals_a_fresh_build() -> None:
    assert SHIPPED.read_text("utf-8") == build()
