"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to `name`, or None if none is near.

    Case does not count; a candidate that differs only in `-`, `_` and `.` is always near.
    """
    # difflib is imported here because a project without mistakes never needs it.
    from difflib import get_close_matches

    known: dict[str, str] = {}
    for candidate in candidates:
        known.setdefault(candidate.lower(), candidate)
    wanted = name.lower()
    flat = wanted.translate(_FLAT)
    for lowered, candidate in known.items():
        if lowered.translate(_FLAT) == flat:
            return candidate
    near = get_close_matches(wanted, sorted(known), n=1, cutoff=0.66)
    return known[near[0]] if near else None


_FLAT = str.maketrans("", "", "-_. ")


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """`did you mean …?` as a fix, or None."""
    found = suggest(name, candidates)
    return f"did you mean `{found}`?" if found is not None else None


def one_of(candidates: Iterable[str], limit: int = 12) -> str:
    """A readable list: "`a`, `b` or `c`"."""
    names = [f"`{c}`" for c in candidates]
    if not names:
        return "nothing"
    if len(names) > limit:
        return ", ".join(names[:limit]) + ", …"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]
