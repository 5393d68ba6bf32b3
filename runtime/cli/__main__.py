"""`python -m runtime.cli` is `headrace`."""

from runtime.cli import main

main()
