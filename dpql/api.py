"""What a Python user calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpql.errors import PlanRefused, UsageError
from dpql.pipeline import Checked, Planned, check_source, plan_source, read_source
from grammar.diagnostics import Diagnostic
from grammar.exchange import SCHEMA
from grammar.source import Source

if TYPE_CHECKING:
    from dpql.allocation import Allocated
    from dpql.ledger import Ledger
    from dpql.plan_file import PlanFile
    from grammar.tree import Script

__all__ = [
    "CheckResult",
    "PlanResult",
    "RunResult",
    "allocate",
    "check",
    "location",
    "parse",
    "plan",
    "run",
]


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult:
    """The findings of `check`."""

    checked: Checked

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return self.checked.ok

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings in the order of their places."""
        return self.checked.diagnostics

    def json(self) -> dict[str, Any]:
        """`{"schema","ok","diagnostics"}`."""
        source = self.checked.source
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "diagnostics": [finding.json(source) for finding in self.diagnostics],
        }

    def __repr__(self) -> str:
        return f"<CheckResult: {'ok' if self.ok else 'errors'}, {len(self.diagnostics)} findings>"

    def __str__(self) -> str:
        from grammar.render import render_text

        return render_text([(self.checked.source, self.diagnostics)])

    def _repr_html_(self) -> str:
        from dpql.report.html import findings_html

        return findings_html(self.checked.source, self.diagnostics)


@dataclass(frozen=True, slots=True, repr=False)
class PlanResult:
    """A plan: its hash, its body, its costs; with findings instead where it has errors."""

    planned: Planned

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return self.planned.ok

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings in the order of their places."""
        return self.planned.diagnostics

    @property
    def hash(self) -> str:
        """The plan's hash; `PlanRefused` where the query has errors."""
        if self.planned.plan is None:
            raise PlanRefused(f"the query has errors\n{self}")
        return self.planned.plan.hash

    def json(self) -> dict[str, Any]:
        """The plan file."""
        from dpql.view import plan_json

        return plan_json(self.planned)

    def __repr__(self) -> str:
        found = "errors" if self.planned.plan is None else self.planned.plan.hash
        return f"<PlanResult: {found}>"

    def __str__(self) -> str:
        from dpql.text import plan_text

        return plan_text(self.planned)

    def _repr_html_(self) -> str:
        from dpql.report.html import sheet
        from dpql.report.sheet import sheet_of

        if self.planned.plan is None:
            return CheckResult(Checked(self.planned.source, self.diagnostics, None))._repr_html_()
        return sheet(sheet_of(self.json()), whole_page=False)


@dataclass(frozen=True, slots=True, repr=False)
class RunResult:
    """The releases of a run, by name."""

    releases: Mapping[str, Mapping[str, Any]]
    rid: str
    plan_hash: str
    mock: bool
    served: str | None

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        return self.releases[name]

    def json(self) -> dict[str, Any]:
        """All releases."""
        return {"rid": self.rid, "plan_hash": self.plan_hash, "releases": dict(self.releases)}

    def __repr__(self) -> str:
        return f"<RunResult: {', '.join(self.releases)}>"

    def __str__(self) -> str:
        from dpql.release_text import releases_text

        return releases_text(tuple(self.releases.values()))

    def _repr_html_(self) -> str:
        from dpql.report.html import releases_html

        return releases_html(tuple(self.releases.values()))


def parse(text_or_path: str | Path) -> tuple[Script, tuple[Diagnostic, ...]]:
    """The tree of a query with what is wrong in it."""
    from grammar.parser import parse as parse_source

    source, finding = _source(text_or_path)
    if finding is not None:
        from grammar.tree import Script

        return Script(source), (finding,)
    return parse_source(source)


def check(text_or_path: str | Path) -> CheckResult:
    """Names, types, costs and budgets, without sensitivities, forecasts or data."""
    source, finding = _source(text_or_path)
    if finding is not None:
        return CheckResult(Checked(source, (finding,), None))
    return CheckResult(check_source(source))


def plan(text_or_path: str | Path, data: Mapping[str, str] | None = None) -> PlanResult:
    """All that is known before any row is read: scales, costs, forecasts, certificate, hash.

    `data` says where public tables lie that options name (`prior=NAME`): files, never datasets.
    """
    source, finding = _source(text_or_path)
    if finding is not None:
        return PlanResult(Planned(source, (finding,), None, None))
    return PlanResult(plan_source(source, data))


def allocate(
    text_or_path: str | Path,
    keep: Iterable[str] = (),
    weights: Mapping[str, Fraction | int | str] | None = None,
    data: Mapping[str, str] | None = None,
) -> Allocated:
    """A proposed split of every BUDGET by what is expected, as a new text; nothing is changed.

    `keep` names measurements whose costs stay; `weights` shares what is left among those of which
    nothing is expected. `data` says where public tables lie, as in `plan`.
    """
    from dpql.allocation import Allocated, allocated

    source, finding = _source(text_or_path)
    if finding is not None:
        return Allocated(source, (finding,))
    try:
        exact = {name: Fraction(weight) for name, weight in (weights or {}).items()}
    except (ValueError, OverflowError, ZeroDivisionError) as failure:
        raise UsageError("a weight is a number above 0") from failure
    return allocated(source, frozenset(keep), exact, data)


def run(
    plan: PlanResult | PlanFile | Mapping[str, Any] | str | Path,
    data: Mapping[str, object] | None = None,
    ledger: Ledger | str | Path | Mapping[str, Ledger | str | Path] | None = None,
    *,
    approvals: Iterable[Mapping[str, Any] | str | Path] = (),
    again: bool = False,
    mock: bool = False,
    actor: str = "",
    out: str | Path | None = None,
    progress: Any = None,
) -> RunResult:
    """Charge the ledger, read the data, release; the stored releases where it was run before.

    `plan` is a plan, a plan file's content or path, or a query. `data` maps each dataset to a
    location, an Arrow table, or a pandas or polars frame. `ledger` is a ledger or its location, or
    a mapping of ledger keys to ledgers. With `mock`, synthetic rows are made and nothing is
    charged. Raises `DpqlError`.
    """
    from dpql.json_file import read_object
    from dpql.ledgers import opened
    from dpql.plan_file import runnable as rebuilt
    from dpql.running import mock_run, run_plan

    file = _plan_file(plan)
    runnable = rebuilt(file)
    tell = progress or (lambda step: None)
    if mock:
        if data or ledger is not None:
            raise UsageError("a mock run takes neither data nor a ledger")
        done = mock_run(runnable, tell)
    else:
        if ledger is None:
            raise UsageError(
                "a run needs a ledger",
                note="what a run spends must outlive it",
                help="give `ledger=`, or `mock=True` for synthetic rows",
            )
        with opened(ledger, runnable) as ledgers:
            done = run_plan(
                runnable,
                file.certificate,
                {**file.locations, **(data or {})},
                ledgers,
                [
                    one if isinstance(one, Mapping) else read_object(one, "an approval")
                    for one in approvals
                ],
                again=again,
                actor=actor,
                progress=tell,
            )
    result = RunResult(
        {str(release["name"]): release for release in done.releases},
        done.rid,
        runnable.hash,
        done.mock,
        done.served,
    )
    if out is not None:
        from dpql.output import write_run

        kept = {"plan_hash": file.hash, "body": file.body, "certificate": file.certificate}
        write_run(Path(out), done.releases, {"schema": SCHEMA, **kept}, file.certificate)
    return result


def location(data: object) -> str:
    """How a ledger key names data: the URI of a file, the fingerprint of a table in memory.

    `data` is what `run` takes for a dataset. Raises `DataRefused` for what can be no data.
    """
    from dpql.errors import DataRefused
    from executors.data.bind import open_source
    from executors.data.failure import DataFailure

    try:
        return open_source(data).location
    except DataFailure as failure:
        raise DataRefused(failure.message, code=failure.code, help=failure.help) from None


def _source(text_or_path: str | Path) -> tuple[Source, Diagnostic | None]:
    """The text of a path, or the text itself: a path ends in `.dpql` and has no line end, = or (.

    Raises `UsageError` where the file cannot be read, or where it is neither.
    """
    if not isinstance(text_or_path, str | Path):
        raise UsageError(f"a query is a text or a path, not a {type(text_or_path).__name__}")
    if isinstance(text_or_path, str) and (
        not text_or_path.endswith(".dpql") or set(text_or_path) & set("\n=(")
    ):
        return Source("<text>", text_or_path), None
    try:
        return read_source(text_or_path)
    except OSError as failure:
        reason = (failure.strerror or "cannot be read").lower()
        raise UsageError(f"`{text_or_path}`: {reason}", code="DPQL-E092") from failure


def _plan_file(plan: PlanResult | PlanFile | Mapping[str, Any] | str | Path) -> PlanFile:
    from dpql.plan_file import PlanFile, of_mapping, of_plan, read_plan

    if isinstance(plan, PlanFile):
        return plan

    if isinstance(plan, str) and not plan.endswith((".json", ".dpql")):
        plan = PlanResult(plan_source(_source(plan)[0]))
    if isinstance(plan, PlanResult):
        if plan.planned.plan is None:
            raise PlanRefused(f"the query has errors\n{plan}")
        return of_plan(plan.planned.plan)
    if isinstance(plan, Mapping):
        return of_mapping(plan, "the plan")
    return read_plan(plan)
