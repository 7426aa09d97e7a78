"""Pages of `dpql explain` for the statements that cost nothing, with their clauses in one place."""

from __future__ import annotations

__all__ = ["STATEMENTS"]

STATEMENTS = {
    "DATASET": """\
# DATASET

What is public about a table, and what may be spent on it:

    DATASET visits
      ROWS 12000
      UNIT patient MAX 4
      COLUMNS (age REAL IN [0, 110], smoker BOOLEAN)
      BUDGET mu=1

ROWS and COLUMNS are required. The other clauses come in any order:

  ROWS n                the public number of rows
  COLUMNS (name TYPE, ...)
                        REAL IN [lo, hi], INTEGER IN [lo, hi], BOOLEAN, CATEGORY ('a', 'b'),
                        GENOTYPE, ID, DURATION IN [0, hi], EVENT, SITE,
                        LOG_EVALUE SENSITIVITY d ASSERTED_BY 'who'
  UNIT column MAX k     the column that names a person, who owns up to k rows (default 1)
  POPULATION name       datasets about the same people share this ledger key
  SITES (a ROWS n, ...) MAX r
                        where the rows lie; a person is at up to r of them (default 1)
  NORM (x, y) <= C CENTER [c1, c2]
                        rows of these columns are shortened to this ball
  BUDGET cost           what this file may spend; `dpql explain BUDGET` lists costs
  NEIGHBORS replace     the one relation that is offered
  FROM 'file'           where the data lie; what `--data` says wins

Bounds only clamp. Choose them from what is known of the quantity, never from the data.""",
    "LET": """\
# LET name = value

A name for a number, a text or a list; it is replaced by its value before anything else happens.

    LET b0 = [0, 0]
    LET share = 1/3

Numbers are exact, and may be combined with + - * / ^ ( ) and log, exp, sqrt.""",
    "STUDY": """\
# STUDY key = 'text', ...

What a board wants to know that no program can: title, purpose, authors, protocol, benefit,
retention. It is part of what is approved.

    STUDY title = 'Aid and arrest', purpose = 'to decide on the programme''s renewal'""",
    "EXPECT": """\
# EXPECT release.metric >= value

How good a release must be by its forecast. A plan that falls short is refused, and costs nothing.
Of every metric more is better. `dpql explain METHOD` lists a method's metrics.

    TEST logrank group=treated effect=-0.4 auto AS arms
    EXPECT arms.power >= 0.8""",
    "POLICY": """\
# POLICY dataset

The custodian's rules, in a file of their own, given with `--policy FILE`:

    POLICY people
      CAP rho=0.5
      CAP mu=0.3 FOR COLUMNS (income)
      ALLOW (TEST, COVARIANCE ssp)
      FORBID COLUMNS (postcode)
      REQUIRE 2 APPROVALS WHEN mu=1""",
}
"""By statement, in capitals."""
