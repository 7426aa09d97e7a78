"""One run: examined, reserved, started, read, stored, settled, served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dpql.bindings import bound, confirm_apart
from dpql.errors import DataRefused, DpqlError, LedgerError, RunFailed
from dpql.ledger import Ledger
from dpql.ledger.amounts import stored
from dpql.ledger.joint import Joint, reserve_joint, serve_joint, shares_of
from dpql.ledger.places import place
from executors.data.bind import open_source
from executors.data.failure import DataFailure
from executors.data.mock import mock_source
from executors.data.schema import check_schema
from executors.data.source import Source
from executors.noise import OsSampler
from executors.release import Outcome, Release
from executors.run import Progress, RowsDiffer, execute
from planner.charge_token import Token
from planner.decode import RunnableDerive, RunnablePlan
from planner.facts import SourceFacts
from planner.mechanism import Query

__all__ = ["Run", "mock_run", "run_plan"]

_SPENT = "the run was charged and is spent; nothing was released"


@dataclass(frozen=True, slots=True)
class Run:
    """The releases of a run; `served` is the date of an earlier run whose releases these are."""

    plan: RunnablePlan
    releases: tuple[Mapping[str, Any], ...]
    rid: str
    mock: bool = False
    served: str | None = None


def mock_run(plan: RunnablePlan, progress: Progress = lambda step: None) -> Run:
    """The plan on synthetic rows made from its schema: no ledger, no spend, not private."""
    digest = f"mock:{plan.hash}"
    token = Token("mock", digest, (), mock=True)
    sources = {facts.name: mock_source(facts) for facts in plan.sources}
    outcomes = _outcomes(lambda: execute(plan, sources, token, OsSampler(), progress))
    releases = _releases(plan, outcomes, "mock", digest, mock=True)
    return Run(plan, releases, "mock", mock=True)


def run_plan(
    plan: RunnablePlan,
    certificate: Mapping[str, Any],
    bindings: Mapping[str, object],
    ledgers: Mapping[str, Ledger],
    approvals: Iterable[Mapping[str, Any]] = (),
    *,
    again: bool = False,
    actor: str = "",
    progress: Progress = lambda step: None,
) -> Run:
    """Charge first, then read; a plan that was run before is served without a charge.

    `ledgers` maps every key that the plan charges to its ledger. Nothing touches the data before
    every ledger has examined the plan, and no row is read before every ledger has started it.
    Raises `DpqlError`.
    """
    bindings = bound(plan, bindings)
    if not again:
        served = serve_joint(plan.body, ledgers, actor=actor)
        if served is not None:
            return _served(plan, served)
    signed = tuple(approvals)
    shares = shares_of(plan.body, ledgers)
    for ledger, keys in shares:
        ledger.examine(plan.body, certificate, signed, keys=keys, again=again)
    sources = _sources(plan, bindings)
    data = {
        facts.name if facts.site is None else f"{facts.dataset}/{facts.site}": place(
            sources[facts.name].location
        )
        for facts in plan.sources
    }
    confirm_apart(plan, sources)
    for ledger, keys in shares:
        ledger.examine(plan.body, certificate, signed, keys=keys, again=again, data=data)
    _described(plan, sources)
    admitted = reserve_joint(
        plan.body, certificate, signed, ledgers, again=again, data=data, actor=actor
    )
    if admitted.stored is not None:
        return _served(plan, admitted)
    sampler = OsSampler()
    token = admitted.start(sampler, actor=actor)
    with _charged():
        outcomes = _outcomes(lambda: execute(plan, sources, token, sampler, progress))
        releases = _releases(plan, outcomes, admitted.rid, plan.hash, mock=False)
        admitted.store(releases, actor=actor)
        admitted.settle(_draws(admitted), actor=actor)
    return Run(plan, releases, admitted.rid)


@contextmanager
def _charged() -> Iterator[None]:
    """Let a ledger's trouble or an interrupt say that the run is charged, and what a rerun does."""
    try:
        yield
    except LedgerError as failure:
        failure.note = "the run was started and stays charged"
        failure.help = (
            "see to the ledger, then run the plan again: it is served if a ledger kept its "
            "releases; else they are lost, and `--again` charges once more"
        )
        raise
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "the run was started, so it is charged; run again, it is served if it was stored"
        ) from None


def _served(plan: RunnablePlan, joint: Joint) -> Run:
    """The releases of an earlier run."""
    kept = joint.fetch()
    return Run(plan, kept.releases, joint.rid, served=kept.stored)


def _sources(plan: RunnablePlan, bindings: Mapping[str, object]) -> dict[str, Source]:
    try:
        return {facts.name: open_source(bindings[facts.name]) for facts in plan.sources}
    except DataFailure as failure:
        raise _refused(failure) from None


def _described(plan: RunnablePlan, sources: Mapping[str, Source]) -> None:
    """Compare names and types with the plan, while a mismatch still costs nothing."""
    for facts in plan.sources:
        try:
            queries = _queries(plan, facts)
            names = dict.fromkeys(column.name for query in queries for column in query.columns)
            ordered = any(query.ordered for query in queries)
            findings = check_schema(sources[facts.name].describe(), facts, names, ordered)
        except DataFailure as failure:
            raise _refused(failure) from None
        if findings:
            raise DataRefused(
                "; ".join(finding.message for finding in findings[:5]),
                code=findings[0].code,
                help=findings[0].help,
                note="nothing was charged",
            )


def _queries(plan: RunnablePlan, source: SourceFacts) -> list[Query]:
    """What the plan's statements ask of a source."""
    return [
        statement.query_at(source)
        for statement in plan.statements
        if source in statement.facts.sources
    ]


def _outcomes(action: Callable[[], dict[str, Outcome]]) -> dict[str, Outcome]:
    """The outcomes; every failure after the start says one of three public things.

    What an engine or a bug raises may quote a row, so it is dropped before ours is raised.
    """
    failure: DpqlError
    try:
        return action()
    except RowsDiffer as found:
        failure = DataRefused(
            str(found),
            code="DPQL-E104",
            note=_SPENT,
            help="the custodian states the number of rows anew, in the file and in the ledger",
        )
    except DataFailure as found:
        failure = _refused(found, note=_SPENT)
    except Exception:
        failure = RunFailed(
            "the run failed after it was started",
            note="it is charged: what was started is never refunded; nothing was released",
            help="`--again` runs the plan once more, for the same charge once more",
        )
    raise failure


def _refused(failure: DataFailure, note: str = "") -> DataRefused:
    return DataRefused(failure.message, code=failure.code, note=note, help=failure.help)


def _releases(
    plan: RunnablePlan, outcomes: Mapping[str, Outcome], rid: str, digest: str, mock: bool
) -> tuple[dict[str, Any], ...]:
    from dpql.view import cost_of_loss

    releases: dict[str, dict[str, Any]] = {}
    for statement in plan.statements:
        releases[statement.name] = Release(
            statement.name,
            statement.mechanism.verb,
            statement.mechanism.method,
            statement.mechanism.version,
            rid,
            digest,
            mock,
            outcomes[statement.name],
            cost_of_loss(statement),
        ).json()
    for derived in plan.derived:
        releases[derived.name] = _derived(derived, releases[derived.release])
    return tuple(releases.values())


def _derived(one: RunnableDerive, origin: Mapping[str, Any]) -> dict[str, Any]:
    """What follows from a release; a fault in a function must not lose what was paid for."""
    value: Mapping[str, Any]
    try:
        value = import_module(one.function.run).run(one.params, origin)
    except Exception:
        value = {"value": {}, "notes": ["this could not be computed from its release"]}
    return {
        "schema": origin["schema"],
        "kind": "derived",
        "name": one.name,
        "function": one.function.name,
        "of": one.release,
        "rid": origin["rid"],
        "plan_hash": origin["plan_hash"],
        "mock": origin["mock"],
        **value,
    }


def _draws(joint: Joint) -> list[dict[str, Any]]:
    """What was drawn at each key: all that was reserved, since every leaf is drawn in full.

    A filter's unused rest is lost, so it counts as drawn.
    """
    return [
        {"key": charge.key, "amount": stored(charge.amount)}
        for _, part in joint.parts
        for charge in part.charges
    ]
