"""`python -m dpql` is `dpql`."""

from dpql.cli import main

main()
