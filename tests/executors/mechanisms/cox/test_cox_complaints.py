"""What `TEST cox` refuses before any data, with its code and place."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from executors.mechanisms.cox import MECHANISM
from executors.mechanisms.cox.cost import CoxParams
from planner.facts import Column, Facts, Norm, SourceFacts
from planner.mechanism import Complaint
from suites.survival_cases import ball, facts, options, unit

GOOD = facts(100, unit("x", "z"))


def complaints(params: CoxParams, where: Facts = GOOD) -> list[Complaint]:
    units = {where.source.name: "eps"}
    return list(MECHANISM.check(params, where, units))


def codes(params: CoxParams, where: Facts = GOOD) -> list[str]:
    return [complaint.code for complaint in complaints(params, where)]


def with_columns(*columns: Column, **more: Any) -> Facts:
    return facts(100, columns, **more)


def source(**changes: Any) -> Facts:
    return Facts((replace(GOOD.source, **changes),), GOOD.columns)


PLAIN = options([0, 0], [1, 1])
ONE = options([0], [1])


def test_a_sound_statement_is_let_through() -> None:
    assert complaints(PLAIN) == []


@pytest.mark.parametrize(
    ("params", "option"),
    [
        (options([0], [1, 1]), "beta"),
        (options([0, 0], [1]), "beta"),
        (options([0, 0, 0], [1, 1, 1]), "beta"),
        (options([], []), "beta"),
        (options([1, 2], [1, 2]), "beta"),
    ],
)
def test_coefficients_must_fit(params: CoxParams, option: str) -> None:
    (complaint,) = complaints(params)
    assert (complaint.code, complaint.option) == ("DPQL-E140", option)


@pytest.mark.parametrize(
    "column",
    [
        Column("c", "category", levels=("a", "b")),
        Column("c", "id"),
        Column("c", "site"),
        Column("c", "event"),
        Column("c", "duration", F(0), F(1)),
        Column("c*", "genotype", pattern=True),
    ],
)
def test_covariates_must_be_numbers(column: Column) -> None:
    where = Facts(GOOD.sources, (column,))
    assert codes(ONE, where) == ["DPQL-E141"]


def test_so_many_covariates_that_planning_takes_minutes_are_refused_at_once() -> None:
    names = [f"x{place}" for place in range(2001)]
    where = facts(100, unit(*names))
    (complaint,) = complaints(options([0] * 2001, [1] * 2001), where)
    assert (complaint.code, complaint.option) == ("DPQL-E141", "columns")
    assert "at most 2000 covariates, not 2001" in complaint.message
    assert codes(options([0] * 2000, [F(1, 1000)] * 2000), facts(100, unit(*names[1:]))) == []


def test_a_test_needs_a_covariate() -> None:
    assert codes(options([], []), with_columns())[0] == "DPQL-E141"


@pytest.mark.parametrize(
    "column",
    [
        Column("c", "real"),
        Column("c", "integer", F(0), None),
        Column("c", "real", F(10**9), F(10**9) + F(1, 10**9)),
        Column("c", "real", F(-(10**200)), F(10**200)),
    ],
)
def test_covariates_need_ranges(column: Column) -> None:
    assert codes(ONE, with_columns(column)) == ["DPQL-E142"]


@pytest.mark.parametrize(
    "duration",
    [
        Column("time", "duration"),
        Column("time", "duration", F(0), F(0)),
        Column("time", "duration", F(1), F(2)),
        Column("time", "duration", F(0), F(10**200)),
    ],
)
def test_durations_begin_at_zero_and_end(duration: Column) -> None:
    where = source(columns=(duration, *GOOD.source.columns[1:]))
    assert codes(PLAIN, where) == ["DPQL-E142"]


def test_a_ball_bounds_columns_without_a_range() -> None:
    norm = Norm(("x", "z"), F(1), (F(0), F(0)))
    where = with_columns(Column("x", "real"), Column("z", "real"), norm=norm)
    assert codes(PLAIN, where) == []
    other = with_columns(Column("x", "real"), norm=norm)
    assert codes(ONE, other) == ["DPQL-E142"]


def test_the_centre_of_a_ball_lies_in_the_ranges() -> None:
    norm = Norm(("z", "x"), F(1), (F(0), F(7)))
    assert codes(PLAIN, with_columns(*unit("x", "z"), norm=norm)) == ["DPQL-E142"]
    columns, good = ball("x", "z")
    assert codes(PLAIN, with_columns(*columns, norm=good)) == []


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"max_rows": 3}, "records of one person"),
        ({"rows": 1}, "two records"),
        ({"columns": GOOD.source.columns[1:]}, "DURATION"),
        ({"columns": (*GOOD.source.columns, Column("again", "event"))}, "EVENT"),
    ],
)
def test_sources_that_cannot_carry_the_test(changes: dict[str, Any], word: str) -> None:
    (complaint,) = complaints(PLAIN, source(**changes))
    assert complaint.code == "DPQL-E144"
    assert word in complaint.message


def test_one_dataset_at_a_time() -> None:
    other = SourceFacts("other", 10, GOOD.source.columns)
    assert codes(PLAIN, Facts((GOOD.source, other), GOOD.columns)) == ["DPQL-E144"]


def test_scores_that_vary_too_much() -> None:
    assert codes(options([0, 0], [15, 5])) == []
    (warning,) = complaints(options([0, 0], [15, 6]))
    assert warning.code == "DPQL-W211"
    assert warning.is_warning
    assert codes(options([0, 0], [601, 0])) == ["DPQL-E143"]
    assert codes(options([700, 0], [700, 1])) == ["DPQL-E143"]


def test_coarse_times_matter_only_with_a_null_that_is_not_zero() -> None:
    where = facts(20_000, unit("x", "z"))
    coarse = {"resolution": F(5)}
    assert codes(options([0, 0], [1, 1], **coarse), where) == []
    (warning,) = complaints(options([2, 0], [1, 1], **coarse), where)
    assert warning.code == "DPQL-W210"
    assert warning.is_warning
    assert codes(options([2, 0], [1, 1], resolution=F(1, 100)), where) == []


@pytest.mark.parametrize(
    "bad",
    [
        {"level": F(0)}, {"level": F(1)}, {"level": F(-1)}, {"riskfloor": F(-1, 10)},
        {"riskfloor": F(11, 10)}, {"shrink": F(0)}, {"shrink": F(2)}, {"shrink": "best"},
        {"rule": "exact"}, {"variant": "mine"}, {"event_rate": F(0)}, {"event_rate": F(1)},
        {"spread": F(0)}, {"spread": F(-1)}, {"resolution": F(-1)}, {"seed": F(1)},
        {"level": 0.05},
    ],
)  # fmt: skip
def test_options_out_of_their_ranges_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        options([0, 0], [1, 1], **bad)


def test_the_published_variant_changes_two_defaults() -> None:
    paper = options([0, 0], [1, 1], variant="paper")
    assert (paper.riskfloor, paper.shrink) == (0, 1)
    mixed = options([0, 0], [1, 1], variant="paper", riskfloor=F(1, 5))
    assert (mixed.riskfloor, mixed.shrink) == (F(1, 5), 1)
    ours = options([0, 0], [1, 1])
    assert (ours.riskfloor, ours.shrink) == (F(1, 10), "auto")


def test_assumptions_are_plain_sentences() -> None:
    for params in (
        PLAIN,
        options([1, 0], [1, 1], resolution=F(1)),
        options([0, 0], [1, 1], resolution=F(1)),
    ):
        said = MECHANISM.assumptions(params, GOOD)
        assert all(sentence.endswith(".") for sentence in said)
        text = " ".join(said)
        for word in ("share one", "coded 0 and 1", "optimistic", "how many is not told"):
            assert word in text
    assert "exactly recorded times" in " ".join(
        MECHANISM.assumptions(options([1, 0], [1, 1]), GOOD)
    )
    sharp = options([0, 0], [1, 1], spread=F(1))
    assert "optimistic" not in " ".join(MECHANISM.assumptions(sharp, GOOD))


def test_every_option_is_described() -> None:
    for field in CoxParams.model_fields.values():
        assert field.description


def test_every_code_has_its_page() -> None:
    pages = Path(__file__).parents[4] / "dpql" / "codes"
    for code in ("E140", "E141", "E142", "E143", "E144", "W210", "W211", "W212"):
        text = (pages / f"DPQL-{code}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# DPQL-{code}: ")


def test_absurd_numbers_are_refused_in_words() -> None:
    huge, tiny = "1e400", "1e-400"
    assert codes(options([0, 0], [huge, huge])) == ["DPQL-E143"]
    columns, norm = ball("x", "z")
    round_ = with_columns(*columns, norm=norm)
    assert codes(options([0, 0], [huge, tiny]), round_) == ["DPQL-E143"]
    assert codes(options([0, 0], [tiny, 0]), round_) == []
    open_ended = [Column("x", "real"), Column("z", "real")]
    wide = Norm(("x", "z"), F(10**300), (F(0), F(0)))
    assert set(codes(PLAIN, with_columns(*open_ended, norm=wide))) == {"DPQL-E142"}
    point = Norm(("x", "z"), F(1, 10**400), (F(0), F(0)))
    assert set(codes(PLAIN, with_columns(*unit("x", "z"), norm=point))) == {"DPQL-E142"}
    far = Norm(("x", "z"), F(1), (F(10**400), F(0)))
    assert set(codes(PLAIN, with_columns(*open_ended, norm=far))) == {"DPQL-E142"}


def test_a_spread_beyond_half_the_width_is_refused() -> None:
    possible, beyond = (options([0, 0], [1, 1], spread=F(one)) for one in (1, F(1001, 1000)))
    assert codes(possible) == []
    (complaint,) = complaints(beyond)
    assert (complaint.code, complaint.option) == ("DPQL-E154", "spread")
    assert "spread=1" in (complaint.help or "")


def test_the_spread_that_is_advised_is_accepted() -> None:
    end = [F(2, 3), 0]
    (complaint,) = complaints(options([0, 0], end, spread=F(9)))
    (advised,) = re.findall(r"`spread=([^`]+)`", complaint.help or "")
    assert F(advised) == F(3333, 10**4)
    assert codes(options([0, 0], end, spread=F(advised))) == []
