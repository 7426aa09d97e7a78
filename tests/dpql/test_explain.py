"""`dpql explain` knows functions of DERIVE as it knows methods, and every other word."""

from __future__ import annotations

import pytest

from dpql.commands.explain import run
from dpql.commands.statements import STATEMENTS
from executors.registry import REGISTRY
from grammar.diagnostics import has_errors
from grammar.parser import parse
from grammar.source import Source


@pytest.mark.parametrize("name", REGISTRY.derivations())
def test_every_function_has_a_page_with_its_options(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    function = REGISTRY.derivation(name)
    assert function is not None
    assert run(name, None) == 0
    page = capsys.readouterr().out
    assert f"{name}(release" in page
    assert function.accepts[0] in page
    for option in function.params.model_fields:
        assert f"  {option}: " in page
    assert run("derive", name.upper()) == 0
    assert capsys.readouterr().out == page


def test_the_verb_lists_its_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("DERIVE", None) == 0
    page = capsys.readouterr().out
    assert all(f"{name}(...)" in page for name in REGISTRY.derivations())


def test_an_unknown_function_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("heatmpa", None) == 1
    assert "`heatmap`" in capsys.readouterr().err
    assert run("DERIVE", "nothing") == 1


@pytest.mark.parametrize("written", ["DPQL-E042", "dpql-e042", "E042", "E42", "42"])
def test_a_code_is_known_however_it_is_written(
    written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(written, None) == 0
    assert capsys.readouterr().out.startswith("# DPQL-E042:")


def test_a_name_of_two_methods_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("hazard", None) == 0
    page = capsys.readouterr().out
    assert "# TEST hazard" in page
    assert "# RELEASE hazard" in page


@pytest.mark.parametrize("name", REGISTRY.derivations())
def test_options_of_functions_are_known(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    function = REGISTRY.derivation(name)
    assert function is not None
    for option in function.params.model_fields:
        assert run(option, None) == 0
        assert f"DERIVE {name}\n  {option}: " in capsys.readouterr().out


def test_an_option_tells_the_range_of_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("RELEASE", "survival") == 0
    page = capsys.readouterr().out
    assert "takes a whole number from 1 to 512; default 32" in page
    assert "takes a number of at least 1e-12 and below 1" not in page
    assert run("beta", None) == 0
    assert "VS the same; must be given" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["DATASET", "let", "Study", "EXPECT", "POLICY"])
def test_statements_without_methods_have_a_page(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(word, None) == 0
    assert capsys.readouterr().out.startswith(f"# {word.upper()}")


def test_the_queries_on_the_page_of_a_statement_can_be_read() -> None:
    for page in STATEMENTS.values():
        shown = "\n".join(line[4:] for line in page.split("\n") if line.startswith("    "))
        text = "\n".join(line for line in shown.split("\n") if not line.startswith("  " * 5))
        findings = parse(Source("page", text))[1]
        assert not has_errors(findings), (page, findings)


def test_an_unknown_word_is_told_what_may_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("qwxz", None) == 1
    assert "a verb (`TEST`)" in capsys.readouterr().err
    assert run("TEST", "qwxz") == 1
    assert "methods of TEST: `cox`" in capsys.readouterr().err
