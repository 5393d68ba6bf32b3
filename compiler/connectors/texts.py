"""What the text of an option must be beyond its kind: what is wrong and how to mend it, or None."""

from __future__ import annotations

from urllib.parse import urlsplit

from compiler.syntax.datetime_patterns import DATETIME_FIX, datetime_problem


def one_sign(text: str) -> tuple[str, str] | None:
    """At most one character: Spark takes no more for a quote."""
    return (f"`{text}` is more than one character", "write one, or '' for none") if len(text) > 1 else None


def some_sign(text: str) -> tuple[str, str] | None:
    """At least one character."""
    return None if text else ("nothing stands between the fields", "write for example ','")


def time_pattern(text: str) -> tuple[str, str] | None:
    """A pattern of times."""
    problem = datetime_problem(text, reading=False)
    return None if problem is None else (problem, DATETIME_FIX)


def web_address(text: str) -> tuple[str, str] | None:
    """A URL of a web service."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    return None if good else ("this is no URL of a web service", "begin with http:// or https:// and a host")
