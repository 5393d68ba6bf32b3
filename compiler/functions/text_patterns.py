"""Patterns of texts that fail on every row: of LIKE, and regular expressions.

Source: Spark 4.2, `StringUtils.escapeLikeRegex`, and `java.util.regex.Pattern`. What is not certain is left
to Spark.
"""

from __future__ import annotations

import re

# Quoting, control characters and comments may hide any sign.
_UNCERTAIN = re.compile(r"\\[Qc]|\(\?[a-zA-Z-]*x")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CLASS = re.compile(r"\[\^?[^\[\]&]+\]")
_DANGLING = re.compile(r"(?:^|[|(])([*+{])|(?:^|\|)(\?)")


def like_problem(pattern: str, escape: str = "\\") -> str | None:
    """Why LIKE cannot use a pattern; None if it can."""
    signs = iter(pattern)
    for sign in signs:
        if sign == escape:
            escaped = next(signs, None)
            if escaped is None:
                return f"`{pattern}` ends with `{escape}`, behind which a sign must stand"
            if escaped not in ("_", "%", escape):
                return f"`{escape}` stands before `{escaped}` in `{pattern}`"
    return None


def regex_problem(pattern: str) -> str | None:
    """Why Java cannot read a regular expression; None if it can, or if that is not certain."""
    if _UNCERTAIN.search(pattern):
        return None
    plain = _CLASS.sub("x", _ESCAPED.sub("x", pattern))
    if plain.rfind("[") > plain.rfind("]"):
        return f"`[` is not closed in `{pattern}`"
    # What is left of classes may hold any sign.
    if "[" in plain or "]" in plain:
        return None
    depth = 0
    for sign in re.findall(r"[()]", plain):
        depth += 1 if sign == "(" else -1
        if depth < 0:
            return f"`)` stands without `(` in `{pattern}`"
    if depth > 0:
        return f"`(` is not closed in `{pattern}`"
    dangling = _DANGLING.search(plain)
    if dangling is not None:
        return f"`{dangling[1] or dangling[2]}` has nothing before it to repeat in `{pattern}`"
    return None
