"""Who is protected, and how strongly, in numbers that need no formula."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpql.report import words
from dpql.report.document import Block, Curve, Facts, Items, Meter, Paragraph, Section
from planner.calculus.exact import number

__all__ = ["right_guesses", "section"]

Json = Mapping[str, Any]

_HOW_TO_READ = (
    "The attacker in these numbers knows every other row, knows this plan, has unlimited "
    "computing power, and wants to learn about one target. Real attackers know less.",
    "They are upper limits: no way of using the results does better, now or later, whatever else "
    "becomes known.",
)


def section(plan: Json) -> Section:
    """Each dataset that pays, with its neighbour relation and what an attacker can reach."""
    blocks: list[Block] = []
    tables = words.tables_of_hypotheses(plan["body"])
    for dataset in plan["datasets"]:
        if dataset["spent_by"]:
            is_table = dataset["name"] in tables
            blocks += _dataset(dataset, plan["risk"].get(dataset["name"]), is_table)
    for key in plan["keys"]:
        if len(key.get("datasets", ())) > 1 and key["total"] is not None:
            blocks.append(
                Paragraph(
                    f"The datasets {', '.join(f'`{name}`' for name in key['datasets'])} are about "
                    f"the same people (`{key['key']}`). Together they cost these people "
                    f"{words.cost(key['total'])}; the limits above are for each dataset alone."
                )
            )
            guess = right_guesses(key["risk"])
            if guess is not None:
                blocks.append(_meter(f"All datasets of `{key['key']}` together", guess))
    blocks.append(Items(_HOW_TO_READ, "How to read these numbers"))
    return Section("protection", "Who is protected, and how strongly", tuple(blocks))


def right_guesses(risk: Json | None) -> float | None:
    """How often an attacker is right who says which of two rows a person has, at most.

    Half of 1 + advantage; 0.5 is tossing a coin.
    """
    return None if risk is None else min(1.0, (1 + risk["advantage"]) / 2)


def _dataset(dataset: Json, risk: Json | None, is_table: bool) -> list[Block]:
    name = dataset["name"]
    blocks: list[Block] = [Paragraph(one) for one in _who(dataset, is_table)]
    guess = right_guesses(risk)
    if risk is None or guess is None:
        blocks.append(
            Paragraph(
                "These limits cannot be stated for the kinds of cost used here; see the cost."
            )
        )
        return blocks
    target = "person" if is_table or dataset["unit"]["column"] is not None else "record"
    blocks.append(Paragraph(_sentence(risk, "people" if target == "person" else "records")))
    label = f"Telling two versions of one {target}'s data in `{name}` apart"
    blocks.append(_meter(label, guess))
    blocks.append(_curve(name, risk))
    blocks.append(Facts((*_alarms(risk), *_more(risk), *_pairs(dataset)), f"`{name}` in numbers"))
    return blocks


def _who(dataset: Json, is_table: bool) -> tuple[str, ...]:
    """The neighbour relation in words."""
    name, rows = dataset["name"], f"{dataset['rows']:,}"
    same = "with nearly the same chances the same results would leave if"
    if is_table:
        return (
            f"`{name}` is a table of {rows} hypotheses, computed from the data of people; their "
            f"number is public. What is protected is one person of the study behind it: {same} "
            "all data of that person were entirely different.",
        )
    if dataset["unit"]["column"] is None:
        return (
            f"`{name}` has {rows} rows, which is public. What is protected is one record: {same} "
            "the contents of that record were entirely different.",
            f"One record is protected, not one person: if a person stands in `{name}` more than "
            "once, the protection of that person is weaker than stated here.",
        )
    return (
        f"`{name}` has {rows} rows, which is public. What is protected is "
        f"{words.person(dataset['unit'])}: {same} the contents of all rows of that person were "
        "entirely different.",
    )


def _meter(label: str, guess: float) -> Meter:
    return Meter(
        label,
        max(0.0, 2 * guess - 1),
        f"right in at most {words.in_hundred(guess)} guesses",
        ("50: as good as a coin", "100: certain"),
    )


def _alarms(risk: Json) -> tuple[tuple[str, str], ...]:
    return tuple(
        (
            f"Catching a target while accusing {words.percent_up(float(rate))} of others",
            f"in at most {words.percent_up(caught)} of cases",
        )
        for rate, caught in sorted(risk["tpr"].items(), key=lambda item: -float(item[0]))
    )


def _sentence(risk: Json, targets: str) -> str:
    """What a board should take home, in one sentence."""
    return (
        "Somebody who knows everything about everybody else, and who suspects 1 of 100 "
        f"{targets} wrongly, finds at most {words.of_hundred(risk['tpr']['0.01'])} {targets} "
        "whose data are as suspected; a guess without these results finds 1 of 100."
    )


def _curve(name: str, risk: Json) -> Curve:
    marks = sorted((float(rate), float(caught)) for rate, caught in risk["tpr"].items())
    return Curve(
        f"What attacks on `{name}` can reach",
        tuple((float(rate), float(caught)) for rate, caught in risk["curve"]),
        tuple(marks),
        "An attack that accuses few others also misses most targets: none gets into the shaded "
        "part. The dashed line is a guess that uses no result. Dots: 0.1 %, 1 % and 10 % of others "
        "are wrongly accused.",
    )


def _more(risk: Json) -> tuple[tuple[str, str], ...]:
    beliefs = tuple(
        (
            f"Belief of {words.percent_up(float(prior))} in a suspicion, after such an accusation "
            "(1 % of others)",
            f"rises to at most {words.percent_up(belief)}",
        )
        for prior, belief in sorted(risk["posterior"].items(), key=lambda item: float(item[0]))
    )
    always = risk["pointwise"]
    if always is not None:
        beliefs += (
            (
                "An even belief (50 %), after whatever the results turn out to be",
                f"rises to at most {words.percent_up(always['0.5'])}",
            ),
        )
    return (
        *beliefs,
        (
            "Rebuilding a row that a blind guess hits once in 10,000 tries",
            f"succeeds in at most {words.percent_up(risk['reconstruction'])} of cases",
        ),
    )


def _pairs(dataset: Json) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in dataset["total"]["eps_delta"]:
        delta: Fraction = number(pair["delta"])
        if delta > 0:
            found.append(
                (
                    f"Classical privacy loss, but for a chance of {words.one_in(delta)}",
                    f"eps = {words.amount(pair['eps'])} at delta = {words.small(pair['delta'])}",
                )
            )
        else:
            found.append(("Classical privacy loss, always", f"eps = {words.amount(pair['eps'])}"))
    return tuple(found)
