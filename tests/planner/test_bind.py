"""Names resolve, options fit their models, and every mistake has a code, a place and a way out."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from planner.calculus.cost import Cost
from suites.queries import EVALUES, ROSSI, bound, errors, findings, survey

MISTAKES = [
    ("TEST cox beta=b0 eps=1", "E043", "`beta` needs two sides"),
    ("TEST cox beta=b0 VS b2 eps=1", "E020", "`b2` is not defined"),
    ("TEST cox eps=1", "E045", "needs the option `beta`"),
    ("TEST cax beta=b0 VS b1 eps=1", "E040", "TEST has no method `cax` yet"),
    ("FIT lmm age ~ prio BY fin rho=1", "E040", "FIT has no method `lmm` yet"),
    ("COVARIANCE banded rho=0.1", "E040", "COVARIANCE has no method `banded` yet"),
    ("TEST cox beta=b0 VS b1 levle=0.1 eps=1", "E042", "has no option `levle`"),
    ("TEST cox beta=b0 VS b1 FAST eps=1", "E042", "has no flag `FAST`"),
    ("TEST cox beta=b0 VS b1 level=2 eps=1", "E043", "`level`"),
    (
        "TEST cox beta=b0 VS b1 shrink=2 eps=1",
        "E043",
        "`shrink` takes `auto` or a number above 0 and of at most 1, not 2",
    ),
    (
        "TEST cox beta=b0 VS b1 level='a' eps=1",
        "E043",
        "takes a number above 0 and below 1, not a string",
    ),
    ("TEST cox beta=b0 VS b1 level=true eps=1", "E043", "below 1, not `true`"),
    ("TEST cox beta=b0 VS b1 level=[1] eps=1", "E043", "below 1, not a list of 1"),
    ("TEST cox beta=b0 VS b1 rule=foo eps=1", "E043", "`rule` does not know `foo`"),
    ("TEST cox beta=b0 VS b1 level=0.1 level=0.2 eps=1", "E041", "`level` is given twice"),
    ("TEST cox beta=b0 VS b1 level=0.1 VS 0.2 eps=1", "E043", "takes one value, not two"),
    ("TEST cox beta=b0 VS b1", "E062", "does not say what it may spend"),
    ("TEST cox beta=b0 VS b1 eps=-1", "E061", "eps must be positive"),
    ("TEST cox beta=b0 VS b1 eps=0", "E061", "eps must be positive"),
    ("TEST cox beta=b0 VS b1 eps=1e-13", "E061", "between 1e-12 and 1e6"),
    ("TEST cox beta=b0 VS b1 eps=1e7", "E061", "between 1e-12 and 1e6"),
    ("TEST cox beta=b0 VS b1 eps=1, delta=1", "E061", "delta must lie"),
    ("TEST cox beta=b0 VS b1 eps=1, delta=0", "E061", "delta must lie"),
    ("TEST cox beta=b0 VS b1 delta=1e-6", "E017", "`delta` stands alone"),
    ("TEST cox beta=b0 VS b1 rho=1, delta=1e-6", "E060", "a delta goes with eps only"),
    ("COVARIANCE ssp COLUMNS (age, week) rho=1", "E048", "`week` is the DURATION"),
    ("COVARIANCE ssp COLUMNS (age, ago) rho=1", "E034", "declares no column `ago`"),
    ("COVARIANCE ssp COLUMNS (age, age) rho=1", "E048", "`age` is listed twice"),
    ("COVARIANCE ssp eps=1", "E065", "cannot honour a cost in eps"),
    ("COVARIANCE ssp 101%", "E064", "between 0% and 100%"),
    ("COVARIANCE ssp ON nobody rho=1", "E047", "there is no dataset `nobody`"),
    ("COVARIANCE ssp ON rossi.north rho=1", "E047", "has no site `north`"),
    ("COVARIANCE ssp ON rossi VS rossi rho=1", "E046", "reads one source"),
    ("COVARIANCE ssp BY fin rho=1", "E042", "does not take BY"),
    ("COVARIANCE ssp age ~ prio rho=1", "E042", "does not take a model formula"),
    ("COVARIANCE ssp rho=1 AS b0", "E027", "`b0` is defined twice"),
    ("COVARIANCE ssp rho=0.1 AS rossi", "E027", "`rossi` is defined twice"),
    ("PEEL evalues ADAPTIVE mu=0.5", "E046", "no declared dataset fits"),
    ("COVARIANCE ssp rho=1 AS s\nEXPECT s.precision <= 2", "E066", "compares with `>=`"),
    ("COVARIANCE ssp rho=1 AS s\nEXPECT s.power >= 2", "E066", "forecasts no `power`"),
    ("EXPECT s.power >= 2", "E049", "there is no release `s` above"),
    ("DERIVE c = correlation(s)", "E049", "there is no release `s` above"),
    ("COVARIANCE ssp rho=1 AS s\nDERIVE c = nothing(s)", "E040", "DERIVE has no function"),
    ("TEST cox beta=b0 VS b1 eps=1 AS t\nDERIVE c = correlation(t)", "E049", "cannot be taken"),
    ("POLICY rossi CAP rho=1", "E039", "stands in the custodian's own file"),
    ("EVALUES e ON rossi kind=betting", "E040", "EVALUES has no kind"),
    ("LET rule = 3", None, ""),
    ("LET finite = 3\nTEST cox beta=b0 VS b1 rule=finite eps=1", "E044", "both a LET and a word"),
    ("STUDY title = 'a', title = 'b'", "E028", "says `title` twice"),
    ("DATASET r ROWS 0 COLUMNS (x REAL)", "E023", "whole number"),
    ("DATASET r ROWS 1.5 COLUMNS (x REAL)", "E023", "whole number"),
    ("DATASET r COLUMNS (x REAL)", "E029", "how many rows"),
    ("DATASET r ROWS 5", "E031", "declares no columns"),
    ("DATASET r ROWS 5 ROWS 6 COLUMNS (x REAL)", "E028", "ROWS is written twice"),
    ("DATASET r ROWS 5 COLUMNS (x REEL)", "E036", "no column type `REEL`"),
    ("DATASET r ROWS 5 COLUMNS (x REAL IN [3, 3])", "E037", "range of `x` is empty"),
    ("DATASET r ROWS 5 COLUMNS (x REAL IN [1e9, 1000000000.1])", "E037", "too narrow"),
    ("DATASET r ROWS 5 COLUMNS (x BOOLEAN IN [0, 1])", "E037", "takes no range"),
    ("DATASET r ROWS 5 COLUMNS (x DURATION IN [1, 2])", "E037", "starts at 0"),
    ("DATASET r ROWS 5 COLUMNS (x CATEGORY ('a'))", "E036", "at least two levels"),
    ("DATASET r ROWS 5 COLUMNS (x CATEGORY ('a', 'a'))", "E036", "lists a level twice"),
    ("DATASET r ROWS 5 COLUMNS (x REAL, x REAL)", "E031", "`x` is declared twice"),
    ("DATASET r ROWS 5 COLUMNS (x EVENT, y EVENT)", "E031", "at most one EVENT"),
    ("DATASET r ROWS 5 NEIGHBORS add_remove COLUMNS (x REAL)", "E030", "not offered"),
    ("DATASET r ROWS 5 COLUMNS (x LOG_EVALUE)", "E038", "needs SENSITIVITY and ASSERTED_BY"),
    ("DATASET r ROWS 5 SITES (a ROWS 3, b ROWS 3) COLUMNS (x REAL)", "E032", "6 rows"),
    ("DATASET r ROWS 5 SITES (a ROWS 2, a ROWS 3) COLUMNS (x REAL)", "E032", "twice"),
    ("DATASET r ROWS 5 SITES (a ROWS 5) MAX 2 COLUMNS (x REAL)", "E032", "at 2 of 1"),
    ("DATASET r ROWS 5 CENTER [1] COLUMNS (x REAL)", "E033", "only together with NORM"),
    ("DATASET r ROWS 5 COLUMNS (x REAL) NORM (z) <= 1", "E034", "NORM names `z`"),
    ("DATASET r ROWS 5 COLUMNS (x REAL) NORM (x) <= 0", "E033", "must be positive"),
    ("DATASET r ROWS 5 COLUMNS (x REAL) NORM (x) <= 1 CENTER [1, 2]", "E033", "2 numbers for"),
    ("DATASET r ROWS 5 UNIT id MAX 0 COLUMNS (x REAL)", "E023", "MAX must be"),
    ("DATASET r ROWS 5 COLUMNS (x REAL) BUDGET 10%", "E060", "is a number"),
    ("DATASET rossi ROWS 5 COLUMNS (x REAL)", "E027", "`rossi` is defined twice"),
]


@pytest.mark.parametrize(("text", "code", "message"), MISTAKES)
def test_a_mistake_is_named_once(text: str, code: str | None, message: str) -> None:
    found = errors(ROSSI + text)
    if code is None:
        assert found == []
        return
    assert len(found) == 1, found
    assert found[0][0] == f"DPQL-{code}"
    assert message in found[0][1]


@pytest.mark.parametrize(("text", "code", "message"), MISTAKES)
def test_a_mistake_does_not_hide_its_neighbours(text: str, code: str | None, message: str) -> None:
    more = "\nTEST cox beta=b0 VS b1 zzz=1 eps=1 AS other_test\n"
    found = errors(ROSSI + text + more)
    assert any("`zzz`" in said for _, said in found)


def test_every_mistake_is_marked_in_its_own_statement() -> None:
    for text, code, _ in MISTAKES:
        if code is None:
            continue
        (one,) = [f for f in findings(ROSSI + text) if f.severity == "error"]
        assert one.span is not None
        assert len(ROSSI) <= one.span.start < one.span.end <= len(ROSSI + text)


def test_the_default_columns_are_the_bounded_ones_without_a_role() -> None:
    text = """DATASET d ROWS 9 COLUMNS (t DURATION IN [0, 9], e EVENT, i ID, a REAL, b BOOLEAN,
      c CATEGORY ('x', 'y'), k INTEGER IN [0, 3], r REAL IN [0, 1]) COVARIANCE ssp rho=1"""
    plan, said = bound(text)
    assert said == ()
    assert [c.name for c in plan.measurements[0].facts.columns] == ["b", "k", "r"]


def test_on_may_be_left_out_where_one_source_fits() -> None:
    plan, said = bound(ROSSI + EVALUES + "TEST cox beta=b0 VS b1 eps=1\nPEEL evalues ADAPTIVE mu=1")
    assert said == ()
    assert [m.facts.source.dataset for m in plan.measurements] == ["rossi", "hits"]


def test_on_is_wanted_where_two_sources_fit() -> None:
    text = survey() + survey().replace(" s ", " t ")
    (found,) = errors(text + "COVARIANCE ssp rho=1")
    assert found == ("DPQL-E046", "`COVARIANCE ssp` could read `s` or `t`")


def test_unnamed_measurements_are_counted_by_method() -> None:
    text = survey() + "COVARIANCE ssp rho=1\nCOVARIANCE ssp rho=1 AS a\nCOVARIANCE ssp rho=1\n"
    plan, _ = bound(text + "COVARIANCE diagonal rho=1")
    assert [m.name for m in plan.measurements] == ["ssp_1", "a", "ssp_3", "diagonal_1"]


def test_a_clash_with_a_counted_name_is_an_error() -> None:
    (found,) = errors(survey() + "COVARIANCE ssp rho=1 AS ssp_2\nCOVARIANCE ssp rho=1")
    assert found[1] == "`ssp_2` is defined twice"


def test_words_of_the_language_fold_case() -> None:
    text = survey() + "covariance SSP CENTER=Midpoint weights=PLAIN RHO=1"
    plan, said = bound(text)
    assert said == ()
    assert plan.measurements[0].params.center == "midpoint"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("rho=0.5", Cost("rho", Fraction(1, 20))),
        ("eps=1, delta=1e-6", Cost("eps_delta", Fraction(1, 10), Fraction(1, 10**7))),
        ("mu=1", Cost("mu", Fraction("0.316227766016837933199889"), square=Fraction(1, 10))),
    ],
)
def test_a_share_is_of_what_adds_up(budget: str, expected: Cost) -> None:
    plan, said = bound(survey(budget) + "COVARIANCE ssp 10%")
    assert said == ()
    assert plan.measurements[0].costs[0].cost == expected


def test_sites_of_two_datasets_may_share_a_name_and_are_then_written_in_full() -> None:
    one = survey(rows=5, more=" SITES (north ROWS 2, south ROWS 3)")
    text = one + one.replace(" s ", " t ")
    (found,) = errors(text + "COVARIANCE ssp ON north rho=1")
    assert found[1] == "`north` is a site of several datasets"
    (found,) = errors(text + "COVARIANCE ssp ON t.north rho=1")
    assert "needs all rows in one place" in found[1]


def test_a_broken_dataset_is_complained_of_once() -> None:
    text = "DATASET r ROWS 5 COLUMNS (x REEL)\nCOVARIANCE ssp ON r rho=1\nCOVARIANCE ssp rho=1\n"
    assert [code for code, _ in errors(text)] == ["DPQL-E036"]


def test_a_let_that_is_broken_is_not_complained_of_again() -> None:
    text = ROSSI + "LET c = 1/0\nLET d = c + 1\nTEST cox beta=b0 VS b1 level=d eps=c\n"
    assert [code for code, _ in errors(text)] == ["DPQL-E025"]


def test_statements_that_cannot_be_read_leave_no_echo() -> None:
    text = """DATASET r ROWS 5 COLUMNS (x REAL IN [0, )
    LET a = [1,
    COVARIANCE ssp rho= AS s
    COVARIANCE ssp rho=1
    EXPECT s.precision >= 1
    DERIVE c = correlation(ssp_2)
    COVARIANCE ssp center=a ON r rho=1
    """
    assert [code for code, _ in errors(text)] == ["DPQL-E015", "DPQL-E012", "DPQL-E014"]


def test_a_release_that_is_broken_is_not_complained_of_again() -> None:
    text = (
        survey() + "COVARIANCE spp rho=1 AS a\nEXPECT a.precision >= 1\nDERIVE c = correlation(a)"
    )
    assert [code for code, _ in errors(text)] == ["DPQL-E040"]


def test_a_file_with_four_faults_shows_those_four() -> None:
    path = Path(__file__).parents[1] / "corpus" / "bad" / "four_faults.dpql"
    assert len(errors(path.read_text())) == 4
