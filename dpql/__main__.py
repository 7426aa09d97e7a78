"""`python -m dpql` is `dpql`."""

from dpql.start import main

main()
