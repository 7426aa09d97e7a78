"""The command line: every command loads what it needs when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpql import __version__

__all__ = ["app"]

app = typer.Typer(
    name="dpql",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
key_app = typer.Typer(help="Reviewers' keys.", no_args_is_help=True)
ledger_app = typer.Typer(help="The record of what was spent.", no_args_is_help=True)
certificate_app = typer.Typer(help="Proofs of a plan's cost.", no_args_is_help=True)
app.add_typer(key_app, name="key")
app.add_typer(ledger_app, name="ledger")
app.add_typer(certificate_app, name="certificate")

Files = Annotated[list[Path], typer.Argument(help="Query files; `-` is standard input.")]
File = Annotated[Path, typer.Argument(help="A query file; `-` is standard input.")]
LedgerUrl = Annotated[
    str, typer.Option("--ledger", help="The ledger: a file, or a URL such as sqlite:///ledger.db.")
]


def _say_version(asked: bool) -> None:
    if asked:
        print(f"dpql {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, help="Say which version this is.")
    ] = False,
) -> None:
    """Say what may leave a dataset, and what it may cost, before anyone reads a row."""


@app.command()
def check(
    files: Files,
    format: Annotated[str, typer.Option(help="text, json, sarif or github.")] = "text",
    policy: Annotated[Path | None, typer.Option(help="The custodian's policy file.")] = None,
) -> None:
    """Check names, types and budgets, without data or forecasts."""
    from dpql.commands.check import run

    raise typer.Exit(run(files, format, policy))


@app.command()
def fmt(
    files: Files,
    check: Annotated[bool, typer.Option("--check", help="Only say what would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the change, do not write.")] = False,
) -> None:
    """Write query files in the one layout, comments kept."""
    from dpql.commands.fmt import run

    raise typer.Exit(run(files, check, diff))


@app.command()
def plan(
    file: File,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the plan.")] = None,
    format: Annotated[str, typer.Option(help="text, json, dot, mermaid or html.")] = "text",
    ledger: Annotated[str | None, typer.Option(help="Show what this ledger has left.")] = None,
    policy: Annotated[Path | None, typer.Option(help="The custodian's policy file.")] = None,
    data: Annotated[
        list[str] | None, typer.Option(help="NAME=LOCATION of a public table that an option names.")
    ] = None,
    allocate: Annotated[
        bool, typer.Option("--allocate", help="Propose a split of every BUDGET; change nothing.")
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="With --allocate: a measurement whose cost stays.")
    ] = None,
    weight: Annotated[
        list[str] | None, typer.Option(help="With --allocate: NAME=W, its weight in the rest.")
    ] = None,
) -> None:
    """Compute every cost, noise scale and forecast, before any data."""
    if allocate or keep or weight:
        from dpql.commands.allocate import run as propose

        raise typer.Exit(
            propose(
                file,
                output,
                format,
                allocate,
                keep or [],
                weight or [],
                data or [],
                ledger or policy,
            )
        )
    from dpql.commands.plan import run

    raise typer.Exit(run(file, output, format, ledger, policy, data or []))


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="A plan or a query file.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the sheet.")] = None,
    format: Annotated[str, typer.Option(help="html, md or json.")] = "html",
) -> None:
    """Write the review sheet that a board reads."""
    from dpql.commands.report import run

    raise typer.Exit(run(file, output, format))


@app.command()
def approve(
    plan: Annotated[Path, typer.Argument(help="The plan file, or the query file.")],
    key: Annotated[Path, typer.Option("--key", help="The reviewer's private key.")],
    signer: Annotated[
        str | None,
        typer.Option("--as", help="The reviewer's name in the ledger; default: the key file's."),
    ] = None,
    ledger_key: Annotated[
        str | None, typer.Option(help="The ledger key that the approval is for.")
    ] = None,
    role: Annotated[str, typer.Option(help="In what role the reviewer signs.")] = "reviewer",
    days: Annotated[int, typer.Option(help="For how many days the approval holds.")] = 30,
    runs: Annotated[int, typer.Option(help="How many runs it covers.")] = 1,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it.")] = None,
) -> None:
    """Sign a plan's hash."""
    from dpql.commands.approve import run

    raise typer.Exit(run(plan, key, signer, ledger_key, role, days, runs, output))


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(help="The plan file, or the query file.")],
    data: Annotated[
        list[str] | None, typer.Option("--data", help="name=location, once a dataset.")
    ] = None,
    ledger: Annotated[
        list[str] | None, typer.Option("--ledger", help="[name=]location of the ledger.")
    ] = None,
    approval: Annotated[list[Path] | None, typer.Option(help="A signed approval.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the releases.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Run once more and pay again.")] = False,
    mock: Annotated[
        bool, typer.Option("--mock", help="Synthetic rows, no ledger, marked NOT PRIVATE.")
    ] = False,
    actor: Annotated[str | None, typer.Option(help="Who runs it, for the record.")] = None,
) -> None:
    """Charge the ledger, read the data, release."""
    from dpql.commands.run import run as execute

    raise typer.Exit(
        execute(plan, data or [], ledger or [], approval or [], out, again, mock, actor)
    )


@app.command()
def explain(
    word: Annotated[str, typer.Argument(help="A code, a verb, a method, an option or a cost.")],
    method: Annotated[str | None, typer.Argument(help="The method of a verb.")] = None,
) -> None:
    """Explain a code, a verb, a method, an option or a cost."""
    from dpql.commands.explain import run

    raise typer.Exit(run(word, method))


@key_app.command("new")
def key_new(
    path: Annotated[Path, typer.Argument(help="Where to write the private key.")],
    password: Annotated[
        bool, typer.Option("--password", help="Ask for a password that locks the key.")
    ] = False,
) -> None:
    """Make a reviewer's key pair; print the public half."""
    from dpql.commands.key import new

    raise typer.Exit(new(path, password))


@ledger_app.command("open")
def ledger_open(
    name: Annotated[str, typer.Argument(help="The key: a dataset's or a population's name.")],
    ledger: LedgerUrl,
    rows: Annotated[int, typer.Option(help="How many rows the dataset has.")],
    cap: Annotated[str, typer.Option(help="What may be spent: eps=, rho=, mu= or eps=,delta=.")],
    data: Annotated[
        list[str] | None, typer.Option("--data", help="A location that the key guards.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The column that names a person.")] = None,
    max_rows: Annotated[int, typer.Option("--max", help="Rows that a person may own.")] = 1,
    population: Annotated[bool, typer.Option(help="The name is a population.")] = False,
    site: Annotated[str | None, typer.Option(help="The site whose key this is.")] = None,
    sites: Annotated[
        list[str] | None, typer.Option("--sites", help="name=rows of each site.")
    ] = None,
    max_sites: Annotated[int, typer.Option(help="Sites at which a person may be.")] = 1,
    sensitivity: Annotated[
        list[str] | None, typer.Option(help="column=d of a LOG_EVALUE column.")
    ] = None,
    hypotheses: Annotated[
        list[str] | None, typer.Option(help="pattern=m of a pattern of columns.")
    ] = None,
    public_design: Annotated[
        bool, typer.Option("--public-design", help="Plans may claim `design=public`.")
    ] = False,
    require_approvals: Annotated[int, typer.Option(help="How many reviewers must sign.")] = 0,
    reviewer: Annotated[
        list[str] | None, typer.Option(help="NAME=PUBLIC_KEY of a reviewer.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Who opens it, for the record.")] = None,
) -> None:
    """Record the facts that the custodian answers for, with a cap."""
    from dpql.commands.ledger import open_key

    raise typer.Exit(
        open_key(
            name=name,
            url=ledger,
            rows=rows,
            cap=cap,
            data=data or [],
            unit=unit,
            max_rows=max_rows,
            population=population,
            site=site,
            sites=sites or [],
            max_sites=max_sites,
            sensitivity=sensitivity or [],
            hypotheses=hypotheses or [],
            public_design=public_design,
            required=require_approvals,
            reviewers=reviewer or [],
            actor=actor,
        )
    )


@ledger_app.command("show")
def ledger_show(
    ledger: LedgerUrl, format: Annotated[str, typer.Option(help="text or json.")] = "text"
) -> None:
    """Show caps, spends and runs."""
    from dpql.commands.ledger import show

    raise typer.Exit(show(ledger, format))


@ledger_app.command("verify")
def ledger_verify(
    ledger: LedgerUrl,
    head: Annotated[Path | None, typer.Option(help="An exported head to compare with.")] = None,
) -> None:
    """Recompute the chain, the sums and the certificates."""
    from dpql.commands.ledger import verify

    raise typer.Exit(verify(ledger, head))


@ledger_app.command("release")
def ledger_release(
    rid: Annotated[str, typer.Argument(help="The run to release.")],
    ledger: LedgerUrl,
    actor: Annotated[str | None, typer.Option(help="Who releases it, for the record.")] = None,
) -> None:
    """Give back a reservation that was never started."""
    from dpql.commands.ledger import release

    raise typer.Exit(release(rid, ledger, actor))


@ledger_app.command("export")
def ledger_export(
    ledger: LedgerUrl,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it.")] = None,
) -> None:
    """Write the chain and its head as JSON."""
    from dpql.commands.ledger import export

    raise typer.Exit(export(ledger, output))


@certificate_app.command("verify")
def certificate_verify(
    plan: Annotated[Path, typer.Argument(help="The plan file.")],
    certificate: Annotated[
        Path | None, typer.Argument(help="The certificate; default: the one in the plan.")
    ] = None,
) -> None:
    """Check a plan's derivation of its cost, independently of the planner."""
    from dpql.commands.certificate import verify

    raise typer.Exit(verify(plan, certificate))
