"""What a reader of a plan takes on trust, what it does not promise, how to check the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpql.report import words
from dpql.report.document import Block, Facts, Items, Paragraph, Section, Table
from planner.calculus.exact import number

__all__ = ["assumed", "limits", "record", "study"]

Json = Mapping[str, Any]

_LIMITS = (
    "It does not say whether the question is worth asking, or whether the data may be used for it.",
    "What holds for people in general is not protected. If the results show that smoking harms, "
    "they say so about smokers who are not in the data as well.",
    "Which columns exist, how many rows there are and how many belong to one person is public.",
    "It limits what the released results reveal. Who can read the data, the computer, its "
    "backups or its logs is not covered; nor is how long a run takes.",
    "Only spending that is recorded in the same ledger is limited. Results about the same people "
    "that leave by another way add to the risk.",
)


def study(plan: Json) -> Section | None:
    """What the author wrote for the board; None if nothing."""
    entries = plan["body"]["study"]
    if not entries:
        return None
    pairs = tuple((_heading(name), text) for name, text in entries.items())
    note = Paragraph("In the author's words. The text is part of what is approved.")
    return Section("study", "What the study is about", (note, Facts(pairs)))


def assumed(plan: Json) -> Section:
    """Asserted facts, then bounds with their silent clamping, then each method's assumptions."""
    blocks: list[Block] = [
        Items(
            tuple(_asserted(plan)),
            "Facts that the guarantee rests on"
            + ("" if _ledger_asked(plan) else ", asserted by the author"),
        )
    ]
    if not _ledger_asked(plan):
        blocks.append(
            Paragraph(
                "A ledger compares them with what the custodian recorded, and refuses the run if "
                "they differ."
            )
        )
    blocks += [_columns(dataset) for dataset in plan["body"]["datasets"]]
    blocks.append(
        Paragraph(
            "Values that do not fit are changed silently before anything is computed: too large or "
            "too small ones are moved to the limit, missing and unreadable ones are replaced by a "
            "neutral value. How many is not told, because that number would itself reveal "
            "something. Wrong limits do not weaken the protection; they make the results worse."
        )
    )
    for statement in plan["statements"]:
        if statement["assumptions"]:
            blocks.append(
                Items(
                    tuple(_sentence(one) for one in statement["assumptions"]),
                    f"{statement['name']}: {statement['verb']} {statement['method']}",
                )
            )
    return Section("trust", "What is taken on trust", tuple(blocks))


def limits() -> Section:
    """What no plan promises."""
    return Section("limits", "What this sheet does not promise", (Items(_LIMITS),))


def record(plan: Json) -> Section:
    """What identifies the plan, and how anybody can check it."""
    body = plan["body"]
    versions = ", ".join(
        dict.fromkeys(
            f"{s['verb']} {s['method']} version {s['version']}" for s in body["statements"]
        )
    )
    pairs = (
        ("Plan hash (this is what is signed)", plan["plan_hash"]),
        ("Language", f"version {body['language']}, plan format {body['schema']}"),
        ("Methods", versions or "none"),
        ("Derivation of the cost", _proof(plan["certificate"])),
        ("Data read to make this sheet", "none"),
    )
    steps = (
        "Every number here was computed from the plan's own declarations when the sheet was made.",
        "`dpql certificate verify plan.json` checks the derivation of the cost with a separate, "
        "small program.",
        "`dpql report plan.json` makes this sheet anew; the hash must be the same.",
        "An approval signs the hash. A plan that is changed in any way has another hash.",
    )
    return Section("record", "For the record", (Facts(pairs), Items(steps, "How to check")))


def _asserted(plan: Json) -> list[str]:
    facts = []
    tables = words.tables_of_hypotheses(plan["body"])
    for dataset in plan["body"]["datasets"]:
        name = dataset["name"]
        who = "one person of the study behind it" if name in tables else ""
        facts.append(
            f"`{name}` has {dataset['rows']:,} rows, and what is to be protected is "
            f"{who or words.person(dataset['unit'])}."
        )
        if dataset["population"]:
            facts.append(f"`{name}` is about the people of `{dataset['population']}`.")
        sites = dataset["sites"]
        if sites:
            most = "one site" if sites["max"] == 1 else f"{sites['max']} sites"
            facts.append(f"In `{name}` a person is at no more than {most}.")
        for column in dataset["columns"]:
            if column["sensitivity"] is not None:
                facts.append(
                    f"One person of the study behind `{name}` moves no value of "
                    f"`{column['name']}` by more than {column['sensitivity']}: asserted by "
                    f"{column['asserted_by']}, and not checked by this program."
                )
    return facts


def _columns(dataset: Json) -> Block:
    rows = tuple(
        (
            column["name"] + (" (a pattern)" if column["pattern"] else ""),
            column["type"].upper(),
            _range(column),
        )
        for column in dataset["columns"]
    )
    return Table(f"Columns of `{dataset['name']}` as declared", ("Column", "Type", "Limits"), rows)


def _range(column: Json) -> str:
    if column["levels"]:
        return "one of " + ", ".join(column["levels"])
    if column["lo"] is None or column["hi"] is None:
        return "none needed"
    return f"from {_short(column['lo'])} to {_short(column['hi'])}"


def _short(written: str) -> str:
    return written if len(written) <= 12 else f"{float(number(written)):.6g}"


def _proof(certificate: Json) -> str:
    steps = len(certificate.get("nodes", ()))
    return f"checked for this sheet by a separate program ({steps} steps)"


def _ledger_asked(plan: Json) -> bool:
    return any(dataset["remaining"] is not None for dataset in plan["datasets"])


def _heading(name: str) -> str:
    return _sentence(name.replace("_", " "))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
