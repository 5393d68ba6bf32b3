"""Logins and certificates of Kafka: what each client is given, and a broker that asks for a login."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion
from kafka_sinks import values
from pyspark.sql import SparkSession
from test_kafka_source import go, make_topic, project, row, send

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import Options
from runtime.connectors.kafka.client import client_conf
from runtime.connectors.kafka.security import BadOption, for_java

ODD = 'p"w\\22;'
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
JAAS = SCRAM + ' required username="ann" password="p\\"w\\\\22;";'


def options(**more: str) -> Options:
    return {f"properties.{name.replace('__', '.')}": value for name, value in more.items()}


def test_a_login_is_given_to_both_clients() -> None:
    common = {"security__protocol": "SASL_SSL", "sasl__mechanism": "SCRAM-SHA-256"}
    by_name = options(**common, sasl__username="ann", sasl__password=ODD)
    by_jaas = options(**common, sasl__jaas__config=JAAS)
    for given in (by_name, by_jaas):
        assert for_java(given) == {
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "SCRAM-SHA-256",
            "kafka.sasl.jaas.config": JAAS,
        }
        conf = client_conf(given)
        assert {name: value for name, value in conf.items() if name != "log_level"} == {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": "ann",
            "sasl.password": ODD,
        }
        # It takes no name that it does not know.
        AdminClient(conf)


def test_certificates_are_given_to_both_clients() -> None:
    given = options(
        security__protocol="SSL",
        ssl__truststore__type="PEM",
        ssl__truststore__location="ca.pem",
        ssl__keystore__type="PEM",
        ssl__keystore__location="own.pem",
        ssl__key__password="secret",
        ssl__endpoint__identification__algorithm="",
    )
    assert for_java(given) == {name.replace("properties", "kafka"): value for name, value in given.items()}
    assert client_conf(given) == {
        "log_level": 0,
        "security.protocol": "SSL",
        "ssl.ca.location": "ca.pem",
        "ssl.certificate.location": "own.pem",
        "ssl.key.location": "own.pem",
        "ssl.key.password": "secret",
        "ssl.endpoint.identification.algorithm": "none",
    }
    assert for_java(options(ssl__ca__location="ca.pem", sasl__mechanisms="PLAIN")) == {
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": "ca.pem",
        "kafka.sasl.mechanism": "PLAIN",
    }


@pytest.mark.parametrize(
    ("given", "java", "ours"),
    [
        ({"sasl__mechanism": "AWS_MSK_IAM"}, None, "AWS_MSK_IAM works with Java's client alone"),
        ({}, None, "GSSAPI works with Java's client alone"),
        (
            {"sasl__mechanism": "PLAIN", "sasl__jaas__config": "Login required oauth='hunter22';"},
            None,
            "no username and password",
        ),
        ({"sasl__mechanism": "PLAIN", "sasl__username": "ann"}, "need each other", None),
        (
            {"sasl__mechanism": "OAUTHBEARER", "sasl__username": "ann", "sasl__password": "hunter22"},
            "OAUTHBEARER knows no name and password",
            "OAUTHBEARER works with Java's",
        ),
        ({"sasl__mechanism": "PLAIN", "ssl__key__pem": "hunter22"}, "Java's client would pass it over", None),
        ({"sasl__mechanism": "PLAIN", "ssl__keystore__location": "own.jks"}, None, "a store of type JKS"),
    ],
)
def test_what_a_client_lacks_is_refused(given: dict[str, str], java: str | None, ours: str | None) -> None:
    whole = options(security__protocol="SASL_PLAINTEXT", **given)
    for client, problem in ((for_java, java), (client_conf, ours)):
        if problem is None:
            client(whole)
            continue
        with pytest.raises(BadOption, match=problem) as error:
            client(whole)
        assert "hunter22" not in str(error.value)


def test_logins_that_are_right_and_wrong(
    session: SparkSession, broker: tuple[str, str], tmp_path: Path
) -> None:
    kafka, asking = broker
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    set_ = UserScramCredentialUpsertion("ann", scram, ODD.encode())
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.alter_user_scram_credentials([set_])["ann"].result(30)
    topic, target = make_topic(kafka), make_topic(kafka)
    send(kafka, topic, row(1), row(2))

    def login(mechanism: str, password: str) -> str:
        return (
            ", 'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.username' = 'ann'"
            f", 'properties.sasl.mechanism' = '{mechanism}', 'properties.sasl.password' = '{password}'"
            ", 'properties.default.api.timeout.ms' = '5000', 'properties.request.timeout.ms' = '4000'"
        )

    def piped(read: str, write: str) -> str:
        return project(asking, topic, options=read).partition("CREATE SINK")[0] + (
            f"CREATE SINK sent WITH (connector = 'kafka', topic = '{target}', format = 'json', "
            f"'properties.bootstrap.servers' = '{asking}', sink.parallelism = 1{write}) AS SELECT * FROM t;"
        )

    plain, by_scram = login("PLAIN", "hunter22"), login("SCRAM-SHA-256", ODD)
    with pytest.raises(DiagnosticError) as error:
        go(tmp_path / "refused", session, piped(plain, login("SCRAM-SHA-256", "wrong22")))
    (found,) = error.value.diagnostics
    assert (found.code.name, "correct the options of the login" in str(found.fix)) == ("HR610", True), found
    failed = go(tmp_path / "failed", session, project(asking, topic, options=login("PLAIN", "wrong22")))
    assert "refuses the login" in failed.failures[0].message, failed.failures
    assert "wrong22" not in f"{found} {failed.failures}"
    # Java's client reads, librdkafka sends.
    assert go(tmp_path / "right", session, piped(by_scram, plain)).failures == ()
    assert len(values(kafka, target)) == 2
