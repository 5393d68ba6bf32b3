"""What tells that a value is a secret: its name; and texts of the user's files without such values."""

from __future__ import annotations

import re

_WORDS = r"password|passwd|secret|token|api[._-]?key|credential|authorization|user[._-]?info"
_IN_VALUE = re.compile(r"\bpassword\s*=", re.IGNORECASE)
# `postgresql://user:password@host`, `jdbc:oracle:thin:user/password@host`
_IN_URL = re.compile(r"(?:(?<=://)[^/\s:@'\"]+:|jdbc:oracle:\w+:[^/\s@'\"]+/)(?P<value>[^@/\s'\"]+)@")
_SECRET = re.compile(_WORDS, re.IGNORECASE)
# `'password' = 'hunter2'`, `sasl.password: hunter2`, `secret_key = "x"`: the name, what assigns, the value.
_ASSIGNED = re.compile(
    rf"(?P<head>['\"`]?[\w.-]*(?:{_WORDS})[\w.-]*['\"`]?\s*(?:=>|=|:)\s*)"
    r"(?P<value>'(?:[^'\\\n]|\\.|'')*'?|\"(?:[^\"\\\n]|\\.)*\"?|[^\s,;)}'\"]+)",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Whether the name of an option or a variable says that its value is a secret."""
    return _SECRET.search(name) is not None


def holds_secret(name: str, value: str) -> bool:
    """Whether an option holds a secret in clear text, and no reference to the environment.

    Some hold it among other things, as Kafka's `sasl.jaas.config` does.
    """
    if "${env:" in value:
        return False
    return is_secret(name) or any(form.search(value) for form in (_IN_VALUE, _IN_URL))


def without_secrets(text: str) -> str:
    """A text of a user's file with `*` for each character of values whose names say that they are secrets.

    Its length stays, so that offsets hold. References such as `${env:NAME}` stay as they are.
    """
    text = _IN_URL.sub(_hidden_in_url, text)
    if _SECRET.search(text) is None:
        return text
    return _ASSIGNED.sub(_hidden, text)


def _hidden_in_url(match: re.Match[str]) -> str:
    value = match["value"]
    return match.group() if "${" in value else match.group()[: -len(value) - 1] + "*" * len(value) + "@"


def _hidden(match: re.Match[str]) -> str:
    value = match["value"]
    if "${" in value:
        return match.group()
    quote = value[0] if value[0] in "'\"" else ""
    end = quote if quote and len(value) > 1 and value[-1] == quote else ""
    return match["head"] + quote + "*" * (len(value) - len(quote) - len(end)) + end
