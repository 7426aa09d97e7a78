"""Sheets, findings and releases as HTML: no script, nothing from outside, everything escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from dpql.plots import drawn
from dpql.report import release_values, words
from dpql.report.curve import pictures
from dpql.report.document import Block, Curve, Facts, Items, Meter, Paragraph, Section, Sheet, Table
from dpql.report.style import STYLE
from grammar.diagnostics import Diagnostic, Severity
from grammar.source import Source

__all__ = ["findings_html", "releases_html", "sheet"]

_CODE = re.compile(r"`([^`]*)`")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def sheet(sheet: Sheet, whole_page: bool = True) -> str:
    """The sheet as a page of its own, or as a part of one (a notebook's)."""
    parts = [
        '<p class="over">Privacy review sheet</p>',
        f"<h1>{_text(sheet.title)}</h1>",
        f'<p class="verdict">{_text(sheet.verdict)}</p>',
    ]
    if sheet.cautions:
        items = "".join(f"<li>{_text(one)}</li>" for one in sheet.cautions)
        parts.append(f'<aside class="cautions"><h2>To keep in mind</h2><ul>{items}</ul></aside>')
    parts += [_section(section) for section in sheet.sections]
    parts.append(f"<footer>Plan <code>{escape(sheet.plan_hash)}</code></footer>")
    body = "\n".join(parts)
    return _page(sheet.title, body) if whole_page else _part(body)


def findings_html(source: Source, diagnostics: Sequence[Diagnostic]) -> str:
    """What was found in a query, each with its line, for a notebook."""
    if not diagnostics:
        return _part("<p>No findings.</p>")
    return _part("\n".join(_finding(source, one) for one in diagnostics))


def releases_html(releases: Iterable[Mapping[str, Any]]) -> str:
    """The releases of a run for a notebook: figures, plots, matrices and curves as tables."""
    return _part("\n".join(_release(release) for release in releases))


def _page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(words.visible(title))}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f'<body>\n<main class="dpql">\n{body}\n</main>\n</body>\n</html>\n'
    )


def _part(body: str) -> str:
    return f'<style>{STYLE}</style>\n<div class="dpql">\n{body}\n</div>\n'


def _section(section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    head = f'<h2 id="{escape(section.key)}-title">{_text(section.title)}</h2>'
    return (
        f'<section id="{escape(section.key)}" aria-labelledby="{escape(section.key)}-title">\n'
        f"{head}\n{blocks}\n</section>"
    )


def _block(block: Block) -> str:
    match block:
        case Paragraph(text=text):
            return f"<p>{_text(text)}</p>"
        case Items(items=items, title=title):
            return _title(title) + "<ul>" + "".join(f"<li>{_text(i)}</li>" for i in items) + "</ul>"
        case Facts(pairs=pairs, title=title):
            rows = "".join(f"<dt>{_text(a)}</dt><dd>{_text(b)}</dd>" for a, b in pairs)
            return f"{_title(title)}<dl>{rows}</dl>"
        case Table(caption=caption, head=head, rows=rows):
            return _table(caption, head, rows)
        case Meter():
            return _meter(block)
        case Curve(title=title, text=text):
            return (
                f"<figure>{_title(title)}{pictures(block)}"
                f"<figcaption>{_text(text)}</figcaption></figure>"
            )


def _meter(block: Meter) -> str:
    low, high = block.ends
    width = f"{100 * min(1.0, max(0.0, block.share)):.1f}"
    said = escape(words.visible(f"{block.label}: {block.text}").replace("`", ""), quote=True)
    return (
        f'<div class="meter"><p><strong>{_text(block.label)}</strong></p>'
        f'<div class="bar" role="img" aria-label="{said}"><span style="width:{width}%"></span>'
        f'</div><p class="ends"><span>{_text(low)}</span><span>{_text(high)}</span></p>'
        f"<p>{_text(block.text)}</p></div>"
    )


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>'
        + "".join(f"<td>{_text(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{_text(caption)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _title(title: str) -> str:
    return f"<h3>{_text(title)}</h3>" if title else ""


def _text(text: str) -> str:
    """Escaped text, with what stands in backticks as code, no line break before a percent sign."""
    safe = escape(words.visible(text)).replace(" %", "&nbsp;%")
    return _CODE.sub(r"<code>\1</code>", safe)


def _finding(source: Source, finding: Diagnostic) -> str:
    name = {Severity.ERROR: "Error", Severity.WARNING: "Warning", Severity.NOTE: "Note"}
    parts = [f"<h3>{name[finding.severity]} {escape(finding.code)}: {_text(finding.message)}</h3>"]
    if finding.span is not None:
        line, column = source.place(finding.span.start)
        text = source.line(line)
        start = column - 1
        end = min(len(text), start + max(1, finding.span.end - finding.span.start))
        parts.append(
            f"<pre>{line} | {escape(text[:start])}<mark>{escape(text[start:end])}</mark>"
            f"{escape(text[end:])}</pre>"
        )
    if finding.note:
        parts.append(f"<p>Why: {_text(finding.note)}.</p>")
    if finding.help:
        parts.append(f"<p>What to do: {_text(finding.help)}.</p>")
    return "<section>" + "".join(parts) + "</section>"


def _release(release: Mapping[str, Any]) -> str:
    name = str(release["name"])
    parts = [f"<h3>{escape(release_values.title(release))}</h3>"]
    if release.get("mock"):
        parts.append('<p class="mock">NOT PRIVATE: made from synthetic rows</p>')
    facts = release_values.facts(release)
    if facts:
        parts.append(_block(Facts(facts)))
    for _, picture in drawn([release]):
        source = "data:image/svg+xml;base64," + b64encode(picture.encode()).decode()
        parts.append(f'<figure><img src="{source}" alt="The plot of the numbers below"></figure>')
    for caption, head, rows in release_values.tables(release):
        parts.append(_table(caption, head, rows))
    notes = [str(note) for note in release.get("notes", ())]
    if notes:
        parts.append(_block(Items(tuple(notes))))
    return f'<section aria-label="{escape(name, quote=True)}">' + "".join(parts) + "</section>"
