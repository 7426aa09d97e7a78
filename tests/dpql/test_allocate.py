"""A proposed split of budgets meets what is expected, fits, fills, and plans as it stands."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import dpql
from dpql.allocation import Allocated, Row
from dpql.cli import app
from dpql.errors import UsageError
from suites.queries import ROSSI, survey

COX = "TEST cox beta=b0 VS b1 shrink=0.15 event_rate=0.26 {} AS effect\n"
GOAL = "EXPECT effect.power >= 0.4\n"
SHARP = "EXPECT pair.precision >= 20\n"
PAIR = "COVARIANCE ssp COLUMNS (age, prio) {} AS pair\n"
TRIPLE = "COVARIANCE ssp {} AS triple\n"
SPREAD = "COVARIANCE diagonal {} AS spread\n"


def rossi(budget: str, *statements: str) -> str:
    return ROSSI.replace("mu=2.5", budget) + "".join(statements)


def proposal(text: str, **more: object) -> Allocated:
    made = dpql.allocate(text, **more)
    assert made.ok, str(made)
    return made


@cache
def of_file(name: str) -> Allocated:
    return proposal(FILES[name])


def rows(made: Allocated) -> dict[str, Row]:
    return {row.proposal.measurement.name: row for split in made.splits for row in split.rows}


def refusal(text: str) -> tuple[str, str, str]:
    made = dpql.allocate(text)
    assert not made.ok
    assert made.text is None
    (said,) = [one for one in made.diagnostics if one.severity == "error"]
    return said.code, said.message, said.help


FILES = {
    "shares in mu": rossi(
        "mu=2.5", PAIR.format("5%"), SPREAD.format("1%"), TRIPLE.format("1%"), SHARP
    ),
    "numbers in mu": rossi(
        "mu=2.5",
        PAIR.format("mu=0.1"),
        SPREAD.format("mu=0.1"),
        TRIPLE.format("BUDGET mu=2"),
        SHARP,
    ),
    "eps in a mu budget": rossi("mu=2.5", COX.format("eps=1"), PAIR.format("mu=0.1"), GOAL),
    "numbers in rho": rossi(
        "rho=2", TRIPLE.format("rho=1"), PAIR.format("rho=1"), SPREAD.format("rho=1"), SHARP
    ),
    "mixed units in rho": rossi(
        "rho=2", COX.format("eps=1"), PAIR.format("mu=1"), SPREAD.format("3%"), SHARP
    ),
    "pairs in a rho budget": rossi(
        "rho=2", PAIR.format("eps=1, delta=1e-7"), TRIPLE.format("eps=9, delta=1e-8"), SHARP
    ),
    "eps only": rossi("eps=3", COX.format("eps=0.1"), GOAL),
    "pairs": rossi(
        "eps=6, delta=1e-6", COX.format("eps=1"), PAIR.format("10%"), TRIPLE.format("mu=1"), SHARP
    ),
    "auto": rossi("mu=2.5", COX.format("auto"), PAIR.format("auto"), GOAL),
    "over its budget": rossi("mu=2.5", COX.format("eps=9"), PAIR.format("mu=2"), SHARP),
    "no goal": rossi("rho=1", PAIR.format("10%"), TRIPLE.format("10%"), SPREAD.format("10%")),
    "two datasets": survey("rho=1")
    + survey("mu=2").replace("DATASET s", "DATASET t")
    + "COVARIANCE ssp ON s 1% AS a\nCOVARIANCE ssp ON t mu=0.1 AS b\n"
    + "COVARIANCE diagonal ON t 3% AS c\nEXPECT a.precision >= 30\n",
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_proposed_plans_cleanly_and_is_proposed_again(name: str) -> None:
    made = of_file(name)
    assert made.text is not None
    planned = dpql.plan(made.text)
    assert planned.ok, str(planned)
    again = proposal(made.text)
    costs = {name: row.proposal.cost for name, row in rows(made).items()}
    for row in rows(again).values():
        cost = costs[row.proposal.measurement.name]
        assert row.proposal.cost.unit == cost.unit
        assert float(row.proposal.cost.amount) == pytest.approx(float(cost.amount), rel=2e-3)


@pytest.mark.parametrize("name", FILES)
def test_a_proposal_leaves_hardly_anything_of_a_budget_that_the_rest_may_fill(name: str) -> None:
    made = of_file(name)
    for split in made.splits:
        if split.rule is None or split.left is None:
            continue
        own = {row.proposal.cost.unit for row in split.rows if row.proposal.why == "rest"}
        exact = split.budget is not None and own == {split.budget.unit} and own != {"mu"}
        assert 0 <= split.left <= (Fraction(1, 400) if exact else Fraction(1, 40))


def test_shares_sum_to_the_whole_budget_exactly() -> None:
    for budget in ("mu=2.5", "rho=2", "rho=1/3", "mu=sqrt(2)"):
        made = proposal(
            rossi(budget, PAIR.format("5%"), SPREAD.format("1%"), TRIPLE.format("1%"), SHARP)
        )
        assert made.text is not None
        found = [Fraction(one) for one in re.findall(r"([0-9.]+)%", made.text)]
        assert len(found) == 3
        assert sum(found) == 100
        assert made.splits[0].left == 0


def test_numbers_in_rho_and_in_eps_sum_to_the_whole_budget_exactly() -> None:
    made = proposal(rossi("rho=2", *(PAIR.format("rho=1").replace("pair", n) for n in "abc"), ""))
    assert made.splits[0].left == 0
    assert [row.written for row in made.splits[0].rows] == ["rho=0.667", "rho=0.667", "rho=0.666"]


def test_each_goal_gets_what_auto_finds_and_no_more() -> None:
    made = proposal(rossi("mu=2.5", COX.format("mu=0.1"), PAIR.format("mu=0.1"), GOAL))
    auto = dpql.plan(rossi("mu=2.5", COX.format("auto"), GOAL)).json()
    (paid,) = auto["body"]["statements"][0]["cost"]
    row = rows(made)["effect"]
    assert row.written == f"mu={paid['declared']['auto']['mu']}"
    assert row.proposal.why == "least"
    assert row.reason == "the least that meets effect.power >= 0.4"
    assert row.after is not None
    assert row.after >= 0.4


def test_equal_errors_are_not_the_aim_but_their_least_sum_is() -> None:
    made = proposal(rossi("rho=1", PAIR.format("10%"), TRIPLE.format("10%"), SPREAD.format("10%")))
    assert made.splits[0].rule == "errors"

    def loss(shares: dict[str, float]) -> float:
        text = rossi(
            "rho=1",
            PAIR.format(f"{shares['pair']:.4f}%"),
            TRIPLE.format(f"{shares['triple']:.4f}%"),
            SPREAD.format(f"{shares['spread']:.4f}%"),
        )
        forecasts = [one["forecast"]["rms_error"] for one in dpql.plan(text).json()["statements"]]
        return sum(error**2 for error in forecasts)

    best = {name: float(row.part or 0) * 100 for name, row in rows(made).items()}
    least = loss({name: share - 1e-4 for name, share in best.items()})
    for name, other in [("pair", "triple"), ("triple", "spread"), ("spread", "pair")]:
        for step in (5.0, -5.0):
            moved = {**best, name: best[name] - step - 1e-3, other: best[other] + step - 1e-3}
            assert loss(moved) > least
    assert loss(dict.fromkeys(best, 33.3)) > least


def test_where_no_error_is_forecast_for_all_the_parts_are_equal() -> None:
    made = proposal(rossi("rho=1", PAIR.format("10%"), COX.format("10%")))
    assert made.splits[0].rule == "equal"
    assert {row.written for row in made.splits[0].rows} == {"50%"}
    assert {row.reason for row in made.splits[0].rows} == {"an equal part of the rest"}


def test_weights_decide_where_they_are_given() -> None:
    made = proposal(
        FILES["no goal"], weights={"pair": 3, "triple": "1/2", "spread": Fraction(1, 2)}
    )
    assert made.splits[0].rule == "weights"
    assert {n: row.written for n, row in rows(made).items()} == {
        "pair": "75%",
        "triple": "12.5%",
        "spread": "12.5%",
    }


def test_what_is_kept_is_subtracted_first_and_left_as_it_stands() -> None:
    goal = SHARP.replace("pair", "triple")
    text = rossi("rho=2", SPREAD.format("5%"), PAIR.format("rho = 0.50"), TRIPLE.format("1%"), goal)
    made = proposal(text, keep=["pair"])
    assert made.text is not None
    assert "rho = 0.50" in made.text
    assert rows(made)["pair"].proposal.why == "kept"
    assert sum((row.part or 0) for row in rows(made).values()) == 1


def test_only_costs_change_in_the_text() -> None:
    text = rossi(
        "mu=2.5",
        "/* why */ " + COX.format("BUDGET   eps=1 -- the test\n "),
        "  COVARIANCE ssp\n   mu=0.1, COLUMNS (age, prio) AS pair -- kept words\n",
        "STUDY title = 'mu=0.1'\n",
        GOAL,
    )
    made = proposal(text)
    assert made.text is not None

    def pattern(one: str) -> str:
        return re.sub(r"(?<=BUDGET   )eps=[0-9.]+|(?<=   )mu=[0-9.]+(?=,)", "COST", one)

    assert pattern(made.text) == pattern(text)
    assert made.text != text


def test_no_method_changes_its_noise() -> None:
    made = of_file("eps in a mu budget")
    assert rows(made)["effect"].written.startswith("eps=")
    assert rows(made)["pair"].written.startswith("mu=")


def test_a_pair_keeps_its_delta_in_a_budget_of_another_unit() -> None:
    made = of_file("pairs in a rho budget")
    assert {name: row.proposal.cost.delta for name, row in rows(made).items()} == {
        "pair": Fraction(1, 10**7),
        "triple": Fraction(1, 10**8),
    }
    left = made.splits[0].left
    assert left is not None
    assert 0 <= left < Fraction(1, 40)


def test_a_delta_that_alone_costs_more_than_is_left_is_said() -> None:
    text = survey("rho=1e-9") + "COVARIANCE ssp eps=1, delta=0.1 AS a\n"
    code, message, _ = refusal(text)
    assert code == "DPQL-E079"
    assert "is left for `a`" in message


def test_pairs_of_eps_and_delta_are_filled_by_composition() -> None:
    made = of_file("pairs")
    assert made.text is not None
    assert dpql.check(made.text).ok
    for before in re.findall(r"mu=([0-9.]+) AS triple", made.text):
        more = made.text.replace(f"mu={before}", f"mu={Fraction(before) * Fraction(101, 100)}")
        assert [one.code for one in dpql.check(more).diagnostics] == ["DPQL-E071"]


def test_goals_beyond_the_budget_name_the_factor_on_all_noise() -> None:
    text = rossi("mu=1.2", COX.format("5%"), COX.format("5%").replace("effect", "other"), GOAL)
    code, message, help = refusal(text + GOAL.replace("effect", "other"))
    assert code == "DPQL-E079"
    assert message.startswith("what is expected and kept needs more than the BUDGET of `rossi`")
    need = float(re.findall(r"spends mu=([0-9.]+)", message)[0])
    factor = float(re.findall(r"with ([0-9.]+) times the noise", help)[0])
    assert need / 1.2 <= factor < need / 1.2 * 1.011


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (survey() + "COVARIANCE ssp mu=1\n", "E079", "no dataset has a BUDGET to split"),
        (
            rossi("mu=0.3", COX.format("5%"), PAIR.format("1%"), GOAL),
            "E078",
            "no cost that is left reaches `effect.power >= 0.4`",
        ),
        (survey("eps=1") + "COVARIANCE ssp mu=1\n", "E067", "cannot be charged"),
        ("COVARIANCE ssp mu=1\n", "E046", "no dataset to read"),
    ],
)
def test_where_there_is_no_split_the_findings_say_why(text: str, code: str, words: str) -> None:
    found, message, _ = refusal(text)
    assert found == f"DPQL-{code}"
    assert words in message


def test_nothing_left_for_the_rest_is_said() -> None:
    text = survey("rho=0.5") + "COVARIANCE ssp rho=0.5 AS all\nCOVARIANCE ssp rho=0.1 AS more\n"
    made = dpql.allocate(text, keep=["all"])
    assert [one.code for one in made.diagnostics] == ["DPQL-E079"]
    assert "is left for `more`" in made.diagnostics[0].message


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"keep": ["pear"]}, "no measurement `pear`"),
        ({"weights": {"nobody": 1}}, "no measurement `nobody`"),
        ({"weights": {"effect": 1}}, "its EXPECT decides"),
        ({"weights": {"pair": 1}, "keep": ["pair"]}, "it is kept"),
        ({"keep": ["triple"]}, "it says `auto`"),
        ({"weights": {"pair": 0}}, "not above 0"),
        ({"weights": {"pair": "much"}}, "a number above 0"),
        ({"weights": {"pair": float("nan")}}, "a number above 0"),
    ],
)
def test_names_that_make_no_sense_are_a_wrong_call(more: dict[str, object], words: str) -> None:
    text = rossi("rho=2", COX.format("5%"), PAIR.format("1%"), TRIPLE.format("auto"), GOAL)
    with pytest.raises(UsageError, match=re.escape(words)):
        dpql.allocate(text, **more)


TWO = """\
DATASET a ROWS 1500 COLUMNS (t DURATION IN [0, 52], e EVENT) BUDGET {}
DATASET b ROWS 2500 COLUMNS (t DURATION IN [0, 52], e EVENT) BUDGET {}
TEST hazard ON a VS b horizon=40 rate=0.02 effect=1 {} AS h
EXPECT h.power >= 0.5
"""
HALVES = """\
DATASET all ROWS 4000 SITES (north ROWS 1500, "far south" ROWS 2500) {}
  COLUMNS (t DURATION IN [0, 52], e EVENT)
  BUDGET rho=3
RELEASE survival ON north horizon=40 5% AS n
RELEASE survival ON "far south" horizon=40 rho=0.1 AS s
RELEASE survival ON all horizon=40 5% AS w
"""


def measured_in(made: Allocated) -> list[str]:
    assert made.text is not None
    return [line for line in made.text.split("\n") if line.startswith(("TEST", "RELEASE"))]


@pytest.mark.parametrize(
    ("first", "second", "before", "after"),
    [
        ("mu=2", "mu=2", "auto", r"effect=1 mu=[0-9.]+ AS h"),
        ("mu=2", "mu=2", "10%", r"effect=1 [0-9.]+% AS h"),
        ("mu=2", "rho=1", "auto", r"effect=1 [0-9.]+% AT a AND rho=[0-9.]+ AT b AS h"),
        (
            "mu=2",
            "mu=2",
            "BUDGET mu=1 AT a AND mu=0.3 AT b",
            r"effect=1 BUDGET mu=[0-9.]+ AT a AND mu=[0-9.]+ AT b AS h",
        ),
    ],
)
def test_each_of_two_sources_gets_its_own_cost(
    first: str, second: str, before: str, after: str
) -> None:
    made = proposal(TWO.format(first, second, before))
    (line,) = measured_in(made)
    assert re.search(after, line), line
    assert dpql.plan(made.text or "").ok


@pytest.mark.parametrize("most", [1, 2])
def test_sites_share_a_budget_by_who_may_be_at_both(most: int) -> None:
    made = proposal(HALVES.format("" if most == 1 else "MAX 2"))
    found = rows(made)
    assert [found[name].proposal.paid.source.site for name in "nsw"] == ["north", "far south", None]
    assert found["n"].proposal.cost.amount == pytest.approx(3 / (most + 1), rel=2e-3)
    assert dpql.plan(made.text or "").ok
    assert 'ON "far south" horizon=40 rho=' in (made.text or "")


def test_a_public_table_is_read_for_a_proposal_as_for_a_plan(tmp_path: Path) -> None:
    table, query = tmp_path / "earlier.csv", tmp_path / "q.dpql"
    table.write_text("a,b,c\n0.03,0.015,0.02\n0.015,0.02,0.01\n0.02,0.01,0.1\n", "utf-8")
    query.write_text(
        "DATASET s ROWS 4000 COLUMNS (a REAL IN [0, 1], b REAL IN [0, 1], c REAL IN [0, 2])\n"
        "  BUDGET rho=0.5\n"
        "COVARIANCE pace prior=earlier strategy=entries 5% AS p\n"
        "COVARIANCE diagonal 5% AS d\nEXPECT p.precision >= 5\n",
        "utf-8",
    )
    made = dpql.allocate(query)
    assert [one.code for one in made.diagnostics if one.severity == "error"] == ["DPQL-E159"]
    made = dpql.allocate(query, data={"earlier": str(table)})
    assert made.ok, str(made)
    assert rows(made)["p"].after is not None
    assert call("plan", query, "--allocate", "--data", f"earlier={table}") == 0
    assert call("plan", query, "--allocate", "--data", "earlier") == 2


def call(*words: object) -> int:
    return int(app([str(word) for word in words], standalone_mode=False) or 0)


def test_the_command_writes_another_file_and_never_the_query(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query, other = tmp_path / "q.dpql", tmp_path / "new.dpql"
    query.write_text(FILES["shares in mu"], "utf-8")
    assert call("plan", query, "--allocate") == 0
    shown = capsys.readouterr().out
    assert "nothing was changed, no row was read" in shown
    assert "the least that meets pair.precision >= 20" in shown
    assert "(proposed)" in shown
    assert call("plan", query, "--allocate", "-o", query) == 2
    assert call("plan", query, "--allocate", "-o", other, "--weight", "triple=2") == 0
    assert query.read_text("utf-8") == FILES["shares in mu"]
    made = proposal(FILES["shares in mu"], weights={"triple": 2})
    assert other.read_text("utf-8") == made.text
    capsys.readouterr()
    assert call("plan", query, "--allocate", "--format", "json", "--keep", "triple") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["kind"] == "allocation"
    assert [cost["why"] for cost in content["datasets"][0]["costs"]] == ["least", "rest", "kept"]


@pytest.mark.parametrize(
    "words",
    [
        ("--keep", "pair"),
        ("--weight", "pair=1"),
        ("--allocate", "--format", "html"),
        ("--allocate", "--weight", "pair"),
        ("--allocate", "--weight", "pair=0"),
        ("--allocate", "--weight", "=2"),
        ("--allocate", "--ledger", "l.db"),
    ],
)
def test_a_wrong_call_is_told_so(words: tuple[str, ...], tmp_path: Path) -> None:
    query = tmp_path / "q.dpql"
    query.write_text(FILES["shares in mu"], "utf-8")
    assert call("plan", query, *words) == 2


def test_a_file_without_a_split_ends_with_findings(tmp_path: Path) -> None:
    query = tmp_path / "q.dpql"
    query.write_text("COVARIANCE ssp mu=1\n", "utf-8")
    assert call("plan", query, "--allocate") == 1
