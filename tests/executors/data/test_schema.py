"""What does not fit is said before anything is charged, from names and types alone."""

from fractions import Fraction

import pyarrow as pa
import pytest

from executors.data.arrow import ArrowSource, table_of
from executors.data.bind import open_source
from executors.data.failure import DataFailure
from executors.data.schema import check_schema
from executors.data.settings import Settings
from executors.data.source import Description
from planner.facts import Column, SourceFacts

AGE = Column("age", "real", Fraction(0), Fraction(100))
ARM = Column("arm", "category", levels=("a", "b"))


def facts(*columns, rows=3, unit=None):
    return SourceFacts("trial", rows, columns, unit=unit)


def described(**columns):
    return Description(tuple(columns.items()), None, True)


def codes(findings):
    return [finding.code for finding in findings]


def test_a_fitting_source_has_no_finding():
    assert check_schema(described(age="double", arm="string"), facts(AGE, ARM)) == ()


def test_a_missing_column_names_the_nearest_one():
    (finding,) = check_schema(described(agee="double", other="int64"), facts(AGE))
    assert finding.code == "DPQL-E100"
    assert finding.help == "did you mean `agee`?"
    (finding,) = check_schema(described(x="double", y="int64"), facts(AGE))
    assert "`x`, `y`" in finding.help


def test_only_the_columns_that_are_read_must_be_there():
    assert check_schema(described(age="double"), facts(AGE, ARM), ("age",)) == ()


@pytest.mark.parametrize("type", ["timestamp[us]", "date32[day]", "binary", "list<item: double>"])
def test_dates_and_nested_columns_are_no_numbers(type):
    assert codes(check_schema(described(age=type), facts(AGE))) == ["DPQL-E101"]


@pytest.mark.parametrize(
    "type",
    [
        *("int8", "uint64", "float", "halffloat", "double", "bool", "string", "decimal128(10, 2)"),
        *("large_string", "string_view", "dictionary<values=string, indices=int8, ordered=0>"),
    ],
)
def test_numbers_booleans_and_text_can_hold_numbers(type):
    assert check_schema(described(age=type), facts(AGE)) == ()


def test_a_category_is_no_real_number():
    assert codes(check_schema(described(arm="double"), facts(ARM))) == ["DPQL-E101"]


def test_a_footer_with_other_rows_is_found_with_the_declared_number_only():
    source = ArrowSource(table_of(pa.table({"age": [1.0, 2.0]})), Settings())
    (finding,) = check_schema(source.describe(), facts(AGE))
    assert finding.code == "DPQL-E104"
    assert "3" in finding.message
    assert "2" not in finding.message + finding.note + finding.help


def test_the_unit_column_must_be_there():
    findings = check_schema(described(age="double"), facts(AGE, unit="person"))
    assert codes(findings) == ["DPQL-E100"]
    assert check_schema(described(age="double", person="int64"), facts(AGE, unit="person")) == ()


def test_two_columns_of_one_name_are_found():
    twice = Description((("age", "double"), ("age", "double")), None, True)
    assert codes(check_schema(twice, facts(AGE))) == ["DPQL-E103"]


def test_columns_that_are_not_read_may_share_a_name():
    source = Description((("x", "double"), ("x", "double"), ("age", "double")), None, True)
    assert check_schema(source, facts(AGE)) == ()
    pairs = Description((("rs1", "int8"), ("rs1", "int8")), None, True)
    genotypes = Column("rs*", "genotype", pattern=True)
    assert codes(check_schema(pairs, facts(genotypes))) == ["DPQL-E103"]


@pytest.mark.parametrize(
    "text",
    [
        "74,11.3,Smith\n75,11.3,Smith\n",
        "74,Smith,Smith\n",
        "74,agee,Smith\n",
        "age,74,Smith\rage,11.3,Smith\r",
        "74,11.3,Smith",
    ],
)
def test_a_file_without_names_has_none_of_its_row_quoted(tmp_path, text):
    (tmp_path / "d.csv").write_bytes(text.encode())
    rs = Column("S*", "genotype", pattern=True, hypotheses=5)
    try:
        found = check_schema(open_source(str(tmp_path / "d.csv")).describe(), facts(AGE, ARM, rs))
        said = " ".join(f"{one.message} {one.note} {one.help}" for one in found)
    except DataFailure as failure:
        said = f"{failure.message} {failure.help}"
    assert said
    for value in ("74", "11.3", "Smith", "agee"):
        assert value not in said


def test_a_name_in_other_letters_is_told_also_in_a_line(tmp_path):
    (tmp_path / "d.csv").write_text("AGE,arm\n1,a\n")
    (finding,) = check_schema(open_source(str(tmp_path / "d.csv")).describe(), facts(AGE))
    assert finding.help == "it has `AGE`: names are compared exactly"


def test_a_pattern_stands_for_as_many_columns_as_declared():
    genotypes = Column("rs*", "genotype", pattern=True, hypotheses=2)
    assert check_schema(described(rs1="int8", rs2="int8", x="double"), facts(genotypes)) == ()
    assert codes(check_schema(described(rs1="int8"), facts(genotypes))) == ["DPQL-E110"]
    open_ended = Column("rs*", "genotype", pattern=True)
    assert check_schema(described(rs1="int8"), facts(open_ended)) == ()
    assert codes(check_schema(described(x="int8"), facts(open_ended))) == ["DPQL-E110"]
