"""A review sheet as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dpql.report import words
from dpql.report.document import Block, Curve, Facts, Items, Meter, Paragraph, Section, Sheet, Table

__all__ = ["sheet"]

_SPECIAL = re.compile(r"([\\*_\[\]<>#|~!&])")


def sheet(sheet: Sheet) -> str:
    """The whole sheet, a curve as its table; texts of the author cannot leave their place."""
    lines = [
        "Privacy review sheet",
        "",
        f"# {_text(sheet.title)}",
        "",
        f"**{_text(sheet.verdict)}**",
        "",
    ]
    if sheet.cautions:
        lines += ["To keep in mind:", "", *_list(sheet.cautions), ""]
    for section in sheet.sections:
        lines += _section(section)
    lines += ["---", "", f"Plan `{sheet.plan_hash}`"]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> list[str]:
    lines = [f"## {_text(section.title)}", ""]
    for block in section.blocks:
        lines += [*_block(block), ""]
    return lines


def _block(block: Block) -> list[str]:
    match block:
        case Paragraph(text=text):
            return [_text(text)]
        case Items(items=items, title=title):
            return [*_title(title), *_list(items)]
        case Facts(pairs=pairs, title=title):
            return [*_title(title), *[f"- {_text(name)}: {_text(value)}" for name, value in pairs]]
        case Table(caption=caption, head=head, rows=rows):
            return [*_title(caption), *_table(head, rows)]
        case Meter(label=label, text=text, ends=(low, high)):
            return [f"{_text(label)}: {_text(text)} (from {_text(low)}, to {_text(high)})"]
        case Curve(title=title, marks=marks):
            shown = tuple((words.percent_up(a), words.percent_up(b)) for a, b in marks)
            head = ("Others wrongly accused", "Targets found, at most")
            return [*_title(title), *_table(head, shown)]


def _title(title: str) -> list[str]:
    return [f"### {_text(title)}", ""] if title else []


def _list(items: Iterable[str]) -> list[str]:
    return [f"- {_text(item)}" for item in items]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        _row(head),
        "|" + " --- |" * len(head),
        *[_row(row) for row in rows],
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_text(cell) for cell in cells) + " |"


def _text(text: str) -> str:
    """One line of text with Markdown's signs disarmed; what stands in backticks stays code."""
    flat = words.visible(" ".join(text.split()))
    parts = flat.split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", flat).replace("`", "\\`")
    return "".join(
        f"`{part.replace('|', '/')}`" if index % 2 else _SPECIAL.sub(r"\\\1", part)
        for index, part in enumerate(parts)
    )
