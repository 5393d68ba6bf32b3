"""Logins and certificates, said once for two clients: Java's, which Spark uses, and librdkafka, which sends.

Options are those of Java's client. A login may also be `sasl.username` and `sasl.password`, as librdkafka has
it, so that a password need not stand in a text with quotes; and a file of authorities `ssl.ca.location`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.model import Options

_PREFIX: Final = "properties."
_JAAS: Final = re.compile(r'\b(username|password)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))')
# Logins by name and password, each with the class that Java has for it.
_MODULES: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_NAME_AND_PASSWORD: Final[tuple[str, ...]] = ("sasl.username", "sasl.password")
# Java passes over names that it does not know, and a broker that is spoken to in clear does not answer.
_OF_LIBRDKAFKA: Final = re.compile(
    r"ssl\.(ca|certificate|key)\.(location|pem)|ssl\.(engine|providers|curves|sigalgs|crl)\..*|"
    r"enable\.ssl\.certificate\.verification|sasl\.oauthbearer\.(method|config|client\.\w+|extensions)|"
    r"sasl\.kerberos\.(principal|keytab)"
)


class BadOption(ValueError):
    """An option that a client cannot be given; the message says why, and never repeats its value."""


def given(options: Options) -> dict[str, str]:
    """The options of a client, without the prefix that they have in a statement."""
    return {
        name.removeprefix(_PREFIX): str(value) for name, value in options.items() if name.startswith(_PREFIX)
    }


def for_java(options: Options) -> dict[str, str]:
    """What Spark hands to Java's client, by the names under which Spark takes it.

    Raises:
        BadOption: Java's client has no such thing.
    """
    found = given(options)
    if "sasl.mechanisms" in found:
        found.setdefault("sasl.mechanism", found.pop("sasl.mechanisms"))
    if "ssl.ca.location" in found:
        found.update({"ssl.truststore.type": "PEM", "ssl.truststore.location": found.pop("ssl.ca.location")})
    login: dict[str, str] = {name: found.pop(name) for name in _NAME_AND_PASSWORD if name in found}
    if login and "sasl.jaas.config" not in found:
        found["sasl.jaas.config"] = _jaas(found, login)
    for name in found:
        if _OF_LIBRDKAFKA.fullmatch(name):
            raise BadOption(f"properties.{name}: it is librdkafka's, and Java's client would pass it over")
    return {f"kafka.{name}": value for name, value in found.items()}


def login_of(found: Mapping[str, str]) -> dict[str, str]:
    """The login among the options of a client, as librdkafka takes it.

    Raises:
        BadOption: it is one of Java's alone.
    """
    if not found.get("security.protocol", "").upper().startswith("SASL_"):
        return {}
    mechanism = _mechanism(found)
    if mechanism == "OAUTHBEARER" and "sasl.oauthbearer.method" in found:
        return {}
    if mechanism not in _MODULES:
        raise BadOption(
            f"properties.sasl.mechanism: {mechanism} works with Java's client alone, "
            f"{', '.join(_MODULES)} with both"
        )
    if "sasl.jaas.config" not in found:
        return {}
    parts = {
        match[1]: match[2] if match[2] is not None else match[3]
        for match in _JAAS.finditer(found["sasl.jaas.config"])
    }
    if parts.keys() != {"username", "password"}:
        raise BadOption("properties.sasl.jaas.config: no username and password can be found in it")
    return {f"sasl.{name}": re.sub(r"\\(.)", r"\1", value) for name, value in parts.items()}


def store_of(name: str, found: Mapping[str, str]) -> dict[str, str]:
    """A file of certificates or keys, as librdkafka takes it: it reads PEM and, of keys, PKCS12.

    Raises:
        BadOption: it is of a type that Java alone reads.
    """
    value = found[name]
    kind = found.get(name.replace("location", "type"), "JKS").upper()
    if kind == "PEM" and name == "ssl.truststore.location":
        return {"ssl.ca.location": value}
    if kind == "PEM":
        return {"ssl.certificate.location": value, "ssl.key.location": value}
    if kind == "PKCS12" and name == "ssl.keystore.location":
        return {"ssl.keystore.location": value}
    raise BadOption(f"properties.{name}: a store of type {kind} can be read by Java alone, PEM by both")


def bad_option(whose: str, error: ValueError, fix: str = "correct or drop it") -> Diagnostic:
    """What is said of an option that a client cannot be given; `whose` is the source or sink."""
    return Diagnostic(
        WRONG_VALUE, f"an option of Kafka's client cannot be used by {whose}", cause=str(error), fix=fix
    )


def _mechanism(found: Mapping[str, str]) -> str:
    return found.get("sasl.mechanism", found.get("sasl.mechanisms", "GSSAPI")).upper()


def _jaas(found: Mapping[str, str], login: Mapping[str, str]) -> str:
    mechanism = _mechanism(found)
    if mechanism not in _MODULES:
        raise BadOption(
            f"properties.sasl.username: {mechanism} knows no name and password, {', '.join(_MODULES)} do"
        )
    if len(login) < len(_NAME_AND_PASSWORD):
        raise BadOption("properties.sasl.username and properties.sasl.password need each other")
    parts = (f"{name.removeprefix('sasl.')}={_quoted(value)}" for name, value in login.items())
    return f"{_MODULES[mechanism]} required {' '.join(parts)};"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
