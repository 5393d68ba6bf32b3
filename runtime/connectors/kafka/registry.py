"""A registry of schemas by Confluent's protocol: which schema the number in front of a message stands for."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import lru_cache
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from compiler.diagnostics.codes import UNREACHABLE, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Options

_KIND: Final = "application/vnd.schemaregistry.v1+json"
_SECONDS: Final = 20.0
_NOT_FOUND: Final = 404


def subject_of(options: Options, part: str) -> str:
    """Under which name a registry keeps the schemas of a topic's `key` or `value`."""
    option = "key.avro-confluent.subject" if part == "key" else "avro-confluent.subject"
    return str(options.get(option, f"{options['topic']}-{part}"))


def schemas_of(options: Options, part: str) -> dict[int, str]:
    """All schemas that messages may have, by their numbers.

    Raises:
        DiagnosticError: the registry does not answer (HR610), or has none (HR104).
    """
    subject = subject_of(options, part)
    found: dict[int, str] = {}
    for version in _call(options, part, f"subjects/{quote(subject, safe='')}/versions"):
        schema = _call(options, part, f"subjects/{quote(subject, safe='')}/versions/{version}")
        found[int(schema["id"])] = str(schema["schema"])
    return found


def number_of(options: Options, part: str, schema: str) -> int:
    """The number of a schema, which becomes one of the subject's if it is none yet.

    Raises:
        DiagnosticError: the registry does not answer (HR610), or does not take the schema (HR104).
    """
    names = ("topic", *_OPTIONS)
    known = tuple((name, str(options[name])) for name in names if name in options)
    return _registered(known, part, schema)


_OPTIONS: Final = (
    *("avro-confluent.url", "avro-confluent.subject", "avro-confluent.basic-auth.user-info"),
    "key.avro-confluent.subject",
)


@lru_cache(maxsize=256)
def _registered(known: tuple[tuple[str, str], ...], part: str, schema: str) -> int:
    options: Options = dict(known)
    path = f"subjects/{quote(subject_of(options, part), safe='')}/versions"
    return int(_call(options, part, path, {"schema": schema})["id"])


def _call(options: Options, part: str, path: str, body: Mapping[str, str] | None = None) -> Any:
    base, login = _address(str(options["avro-confluent.url"]))
    url = f"{base.rstrip('/')}/{path}"
    headers = {"Accept": _KIND, "Content-Type": _KIND}
    user = options.get("avro-confluent.basic-auth.user-info", login)
    if user is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(str(user).encode()).decode()}"
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, headers)  # noqa: S310  # the address is the user's own
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise DiagnosticError(_refused(options, part, error)) from error
    except (OSError, ValueError, HTTPException) as error:
        raise DiagnosticError(
            Diagnostic(
                UNREACHABLE,
                f"the schema registry at {base} does not answer",
                cause=str(getattr(error, "reason", error)),
                fix="look whether it runs and 'avro-confluent.url' is right",
            )
        ) from error


def _address(url: str) -> tuple[str, str | None]:
    """A URL without the login that it may have, which is not to be shown and which urllib cannot use."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=host)), unquote(login) if at else None


def _refused(options: Options, part: str, error: urllib.error.HTTPError) -> Diagnostic:
    subject = subject_of(options, part)
    try:
        said = str(json.load(error).get("message", error))
    except ValueError:
        said = str(error)
    if error.code == _NOT_FOUND:
        fix = "correct 'avro-confluent.subject', or see that the topic's writers register their schemas"
        return Diagnostic(WRONG_VALUE, f"the registry has no subject `{subject}`", cause=said, fix=fix)
    return Diagnostic(
        WRONG_VALUE,
        f"the registry refuses the schema or the login for subject `{subject}`",
        cause=f"it answers {error.code}: {said}",
        fix="let the columns change only as the subject's compatibility allows, and look at "
        "'avro-confluent.basic-auth.user-info'",
    )
