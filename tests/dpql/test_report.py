"""The review sheet: every form, from a query or from a plan file."""

from __future__ import annotations

import copy
import json
import math
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dpql.commands.report import run
from dpql.errors import CertificateRefused, PlanRefused
from dpql.pipeline import plan_source
from dpql.plan_file import of_mapping
from dpql.report import words
from dpql.report.html import sheet as page
from dpql.report.markdown import sheet as markdown
from dpql.report.rebuild import rebuild
from dpql.report.sheet import sheet_of
from dpql.view import plan_json
from grammar.source import Source
from planner.calculus.exact import number, text
from planner.calculus.leaves import Leaf
from planner.encode import plan_hash

QUERY = """
STUDY title = 'Age & <script>alert(1)</script>', purpose = 'a `b` | c'
DATASET people ROWS 432 UNIT id MAX 2 COLUMNS (age REAL IN [16, 60], prio REAL IN [0, 20])
  BUDGET mu=1
COVARIANCE ssp mu=0.3 AS sigma
COVARIANCE diagonal 50% AS spread
EXPECT sigma.precision >= 1
"""
HITS = """
DATASET hits ROWS 200 COLUMNS (snp ID, e LOG_EVALUE SENSITIVITY 0.1 ASSERTED_BY 'J. Doe')
PEEL evalues ADAPTIVE mu=2 AS found
"""


def planned(text: str = QUERY) -> dict:
    return plan_json(plan_source(Source("q.dpql", text)))


@pytest.fixture(scope="module")
def plan() -> dict:
    return planned()


@pytest.fixture(scope="module")
def html(plan) -> str:
    return page(sheet_of(plan))


class Outline(HTMLParser):
    """Collects tags, and fails on one that is not closed in order."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


def test_a_page_is_whole_and_takes_nothing_from_outside(html):
    seen = outline(html).seen
    tags = {tag for tag, _ in seen}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "a", "use"}
    for _, attributes in seen:
        assert not {"src", "href", "srcset", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in html
    assert "@import" not in html
    assert re.search(r"https?://", html) is None
    assert "default-src 'none'" in html


def test_a_page_can_be_read_by_those_who_do_not_see_it(html):
    seen = outline(html).seen
    assert ("html", {"lang": "en"}) in seen
    assert [tag for tag, _ in seen].count("h1") == 1
    assert [tag for tag, _ in seen].count("main") == 1
    assert all("scope" in attributes for tag, attributes in seen if tag == "th")
    assert all(a.get("aria-label") for _, a in seen if a.get("role") == "img")
    assert all(a.get("role") == "img" for tag, a in seen if tag == "svg")
    tables = [tag for tag, _ in seen if tag in ("table", "caption")]
    assert tables == ["table", "caption"] * (len(tables) // 2)


def test_the_authors_text_is_escaped(plan, html):
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "\\<script\\>" in markdown(sheet_of(plan))
    assert "`b` \\| c" in markdown(sheet_of(plan))


def test_hidden_characters_are_shown(plan):
    changed = copy.deepcopy(plan)
    changed["body"]["study"]["title"] = "not \u202eapproved"
    shown = page(sheet_of(_signed(changed)))
    assert "\u202e" not in shown
    assert "not &lt;U+202E&gt;approved" in shown


def test_every_number_is_of_the_plan(plan, html):
    text = re.sub(r"<[^>]+>", " ", html)
    total = plan["datasets"][0]["total"]
    assert plan["plan_hash"] in text
    assert f"mu = {total['mu'][:4]}" in text
    assert "432" in text
    precision = plan["statements"][0]["forecast"]["precision"]
    assert f"{precision:.4g}" in text


def test_the_verdict_is_one_sentence_with_the_worst_of_all_numbers(plan):
    verdict = sheet_of(plan).verdict
    guess = (1 + plan["risk"]["people"]["advantage"]) / 2
    assert verdict.count(".") == 1
    assert f"at most {int(guess * 100) + 1} of 100" in verdict
    # 0.3^2 + 1/2 of 1 is spent.
    assert "59 % of the budget is used" in verdict


def drawn(html: str) -> list[dict]:
    """The attributes of the elements of each picture."""
    return [attributes for tag, attributes in outline(html).seen if tag in ("circle", "svg")]


def test_the_trade_off_is_drawn_where_it_is(plan, html):
    """Left: misses by false alarms, 264 by 218 units from (54, 252). Right: both logarithmic."""
    left, *points = drawn(html)
    (right,) = [one for one in points if "viewbox" in one]
    dots = [(float(one["cx"]), float(one["cy"])) for one in points if "r" in one]
    tpr = sorted((float(rate), one) for rate, one in plan["risk"]["people"]["tpr"].items())
    assert [rate for rate, _ in tpr] == [0.001, 0.01, 0.1]
    for (rate, caught), (x, y) in zip(tpr, dots[:3], strict=True):
        assert (x - 54) / 264 == pytest.approx(rate, abs=1e-3)
        assert (252 - y) / 218 == pytest.approx(1 - caught, abs=1e-3)
    for (rate, caught), (x, y) in zip(tpr, dots[3:], strict=True):
        assert (x - 54) / 66 - 4 == pytest.approx(math.log10(rate), abs=1e-3)
        assert (252 - y) / 54.5 - 4 == pytest.approx(math.log10(caught), abs=2e-3)
    for rate, caught in tpr:
        assert f"{rate * 100:g} % of others accused" in left["aria-label"]
        assert f"at most {words.percent_up(caught)} of targets" in right["aria-label"]
    lines = re.findall(r'<polyline points="([^"]*)"', html)
    assert len(lines) == 4
    assert lines[0].split() == ["54.0,34.0", "318.0,252.0"]
    assert len(lines[1].split()) == len(plan["risk"]["people"]["curve"]) + 2


def test_every_form_tells_the_same_limits(plan, html):
    sheet = sheet_of(plan)
    risk = plan["risk"]["people"]
    plain = html_text(html)
    for made in (plain, markdown(sheet), json.dumps(sheet.json(), ensure_ascii=False)):
        shown = made.replace("\u00a0", " ").replace("\\", "")
        found = math.ceil(risk["tpr"]["0.01"] * 1000) / 10
        assert f"finds at most {found:g} of 100 people whose data are as suspected" in shown
        for prior in ("0.01", "0.1", "0.5"):
            assert words.percent_up(risk["posterior"][prior]) in shown
    (curve,) = [
        block
        for section in sheet.json()["sections"]
        for block in section["blocks"]
        if block["kind"] == "curve"
    ]
    assert curve["points"] == risk["curve"]
    assert curve["marks"] == [[0.001, risk["tpr"]["0.001"]], *curve["marks"][1:]]


def html_text(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", html))


@pytest.mark.parametrize("cost", ["mu=0.001", "mu=0.5", "mu=3", "mu=50"])
def test_weak_and_strong_plans_are_drawn_inside_their_frame(cost):
    text = QUERY.replace("BUDGET mu=1", "").replace("mu=0.3", cost).replace("50%", cost)
    text = text.replace("EXPECT sigma.precision >= 1", "")
    made = page(sheet_of(planned(text)))
    assert made.count("<svg") == 2
    for place in re.findall(r'points="([^"]*)"', made):
        for point in place.split():
            x, y = (float(part) for part in point.split(","))
            assert 54 <= x <= 318
            assert 34 <= y <= 252


def test_two_datasets_about_the_same_people_are_added_up():
    query = """
    DATASET a ROWS 100 UNIT id POPULATION p COLUMNS (x REAL IN [0, 1], y REAL IN [0, 1])
    DATASET b ROWS 100 UNIT id POPULATION p COLUMNS (x REAL IN [0, 1], y REAL IN [0, 1])
    COVARIANCE diagonal ON a mu=0.6
    COVARIANCE diagonal ON b mu=0.8
    """
    made = planned(query)
    sheet = sheet_of(made)
    # mu adds up in squares to 1: advantage .38292, so 69.1 of 100, rounded up.
    assert "at most 70 of 100" in sheet.verdict
    assert "about the same people (`p`)" in markdown(sheet)


def test_a_table_of_hypotheses_protects_people_not_rows():
    text = markdown(sheet_of(planned(HITS)))
    assert "one person of the study behind it" in text
    assert "One record is protected, not one person" not in text
    assert "asserted by J. Doe, and the guarantee rests on it" in text


def test_the_sheet_of_a_plan_file_is_that_of_its_query(tmp_path, plan):
    for written in (QUERY, HITS):
        query, file = tmp_path / "q.dpql", tmp_path / "plan.json"
        query.write_text(written)
        file.write_text(json.dumps(planned(written)))
        for form in ("html", "md", "json"):
            assert run(query, tmp_path / "one", form) == 0
            assert run(file, tmp_path / "two", form) == 0
            assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text()


def test_a_plan_files_view_is_not_believed(plan):
    changed = copy.deepcopy(plan)
    changed["datasets"][0]["total"]["mu"] = "0.0001"
    changed["datasets"][0]["rows"] = 10**9
    changed["risk"]["people"]["advantage"] = 0.0
    changed["statements"][0]["forecast"]["precision"] = 1e9
    changed["statements"][0]["releases"] = ["nothing"]
    changed["diagnostics"] = []
    rebuilt = plan_json(rebuild(of_mapping(changed, "plan.json")))
    assert sheet_of(rebuilt) == sheet_of(plan)


def test_a_changed_body_is_refused(tmp_path, plan):
    changed = copy.deepcopy(plan)
    changed["body"]["datasets"][0]["rows"] = 433
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(changed))
    with pytest.raises(PlanRefused, match="not what its hash was made of"):
        run(file, None, "html")


def test_the_sheet_tells_every_option_that_decides_a_result():
    query = """
    DATASET people ROWS 432
      COLUMNS (week DURATION IN [0, 52], event EVENT, age REAL IN [16, 60], prio REAL IN [0, 20])
    TEST cox beta=[0] VS [0.1] COLUMNS (age) level=0.01 eps=1 AS effect
    COVARIANCE ssp COLUMNS (age, prio) mu=0.3 AS sigma
    DERIVE slopes = regress(sigma, y=prio)
    """
    text = markdown(sheet_of(planned(query)))
    assert "- Options: beta=\\[0\\] VS \\[0.1\\]; " in text
    assert "level=0.01; " in text
    assert "slopes: regress of sigma (" in text
    assert "y=prio)" in text


def _signed(content: dict) -> dict:
    """The content with the hash, and the certificate's, that its body now has."""
    digest = plan_hash(content["body"])
    certificate = {**content["certificate"], "plan_hash": digest}
    return {**content, "plan_hash": digest, "certificate": certificate}


def test_noise_that_does_not_follow_from_the_declarations_is_refused(plan):
    changed = copy.deepcopy(plan)
    leaf = changed["body"]["statements"][0]["leaves"][0]
    # Half the noise for half of the true sensitivity: the cost looks the same.
    leaf["sensitivity"] = str(int(leaf["sensitivity"]) // 2)
    leaf["scale"] = str(int(leaf["scale"]) // 2)
    made = Leaf.dgauss(number(leaf["sensitivity"]), number(leaf["scale"]))
    leaf["params"] = {"mu": text(made.param)}
    with pytest.raises(PlanRefused, match="does not follow from its own declarations"):
        rebuild(of_mapping(_signed(changed), "plan.json"))


def test_a_body_over_its_own_budget_has_findings_and_no_plan(plan):
    changed = copy.deepcopy(plan)
    changed["body"]["datasets"][0]["budget"] = {"mu": "0.1"}
    rebuilt = rebuild(of_mapping(_signed(changed), "plan.json"))
    assert rebuilt.plan is None
    assert [finding.code for finding in rebuilt.diagnostics] == ["DPQL-E071"]


def test_options_that_were_auto_are_known_to_have_been():
    made = planned(HITS)
    params = made["body"]["statements"][0]["params"]
    assert any(isinstance(value, dict) and "auto" in value for value in params.values())
    rebuilt = rebuild(of_mapping(made, "plan.json"))
    assert rebuilt.plan is not None
    assert rebuilt.plan.body == made["body"]
    assert plan_json(rebuilt)["plan_hash"] == made["plan_hash"]


def test_a_certificate_that_proves_less_is_refused(tmp_path, plan):
    changed = copy.deepcopy(plan)
    total = changed["certificate"]["totals"][0]
    unit = next(iter(total["out"]))
    total["out"][unit] = "0.000001"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(changed))
    with pytest.raises(CertificateRefused):
        run(file, None, "html")


def test_a_query_with_errors_has_findings_and_no_sheet(tmp_path, capsys):
    query = tmp_path / "q.dpql"
    query.write_text("COVARIANCE ssp mu=0.3\n")
    assert run(query, tmp_path / "out.html", "html") == 1
    assert not (tmp_path / "out.html").exists()
    assert "q.dpql:1:" in capsys.readouterr().err


def test_an_unknown_form_is_a_wrong_call(tmp_path):
    assert run(Path("q.dpql"), None, "pdf") == 2
