"""Every file of the corpus parses and formats, or is told wrong, exactly as written beside it.

`python tests/grammar/test_corpus_texts.py` writes the expected texts anew, to be read before they
are kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grammar.diagnostics import Severity
from grammar.parser import parse
from grammar.printer import format_source
from grammar.render import render_text
from grammar.source import Source

CORPUS = Path(__file__).parents[1] / "corpus"
GOOD = sorted((CORPUS / "ok").glob("*.dpql"))
BAD = sorted((CORPUS / "bad").glob("*.dpql"))


def _source(path: Path) -> Source:
    return Source(path.name, path.read_bytes().decode("utf-8"))


def _told(path: Path) -> str:
    source = _source(path)
    return render_text([(source, parse(source)[1])])


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_parses_and_formats_as_expected(path: Path) -> None:
    expected = path.with_suffix(".formatted")
    formatted, findings = format_source(_source(path))
    assert not [finding for finding in findings if finding.severity is Severity.ERROR]
    assert formatted == (expected if expected.exists() else path).read_text("utf-8")
    again, _ = format_source(Source(path.name, formatted))
    assert again == formatted


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_file_is_told_wrong_as_expected(path: Path) -> None:
    assert _told(path) == path.with_suffix(".expected").read_text("utf-8")


if __name__ == "__main__":
    for bad in BAD:
        bad.with_suffix(".expected").write_text(_told(bad), "utf-8")
    for good in GOOD:
        text = format_source(_source(good))[0]
        if text != good.read_text("utf-8"):
            good.with_suffix(".formatted").write_text(text, "utf-8")
