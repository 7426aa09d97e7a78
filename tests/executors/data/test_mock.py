"""Rows that are made up: a mock opens them, and nothing else does."""

from fractions import Fraction

import pyarrow as pa
import pytest

from executors.data.bind import open_source
from executors.data.failure import DataFailure
from executors.data.mock import mock_source
from executors.data.schema import check_schema
from executors.data.source import Clamp, Flag, Level, Plain
from planner.charge_token import Token
from planner.facts import Column, SourceFacts

COLUMNS = (
    Column("age", "real", Fraction(18), Fraction(90)),
    Column("visits", "integer", Fraction(0), Fraction(9)),
    Column("arm", "category", levels=("a", "b")),
    Column("event", "event"),
    Column("time", "duration", Fraction(0), Fraction(52)),
    Column("rs*", "genotype", pattern=True, hypotheses=2),
    Column("name", "id"),
    Column("hospital", "site"),
    Column("loge", "log_evalue", sensitivity=Fraction(1)),
)
FACTS = SourceFacts("t", 50, COLUMNS, unit="person", max_rows=2, sites=(("n", 20), ("s", 30)))


def test_made_up_rows_fit_their_declaration():
    source = open_source(mock_source(FACTS))
    assert check_schema(source.describe(), FACTS) == ()
    reader = source.open(Token("mock", "mock:h", (), mock=True), "person", 2)
    columns = [Clamp("age", 18.0, 90.0, None), Flag("event", None), Level("arm", ("a", "b"), None)]
    columns += [Plain("rs0"), Plain("rs1"), Plain("name", "text"), Plain("hospital", "text")]
    table = pa.Table.from_batches(list(reader.batches(columns)))
    assert table.num_rows == 50
    assert all(column.null_count == 0 for column in table.columns)
    assert len(set(table.column("name").to_pylist())) == 50
    assert table.column("hospital").to_pylist().count("n") == 20
    assert set(table.column("rs0").to_pylist()) <= {0.0, 1.0, 2.0}


def test_made_up_rows_are_the_same_each_time():
    token = Token("mock", "mock:h", (), mock=True)
    first, second = (
        next(mock_source(FACTS).open(token).batches([Plain("age")])).to_pydict() for _ in range(2)
    )
    assert first == second


def test_a_charged_run_reads_no_made_up_rows():
    with pytest.raises(DataFailure, match="DPQL-E109"):
        mock_source(FACTS).open(Token("rid", "hash", ("key",)))
    with pytest.raises(DataFailure, match="DPQL-E108"):
        mock_source(FACTS).open("mock")


def test_a_mock_has_a_location_that_no_key_guards():
    assert mock_source(FACTS).location == "mock:t"
