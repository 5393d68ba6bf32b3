"""The version of headrace, in one place for the package, plans and the command line."""

VERSION = "0.1.0"
