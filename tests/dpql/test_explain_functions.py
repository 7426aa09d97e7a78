"""`dpql explain` knows the functions of DERIVE as it knows methods."""

from __future__ import annotations

import pytest

from dpql.commands.explain import run
from executors.registry import REGISTRY


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
