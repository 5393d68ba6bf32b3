"""Servers without root: what they keep over a stop, and what the command says."""

from __future__ import annotations

import tempfile
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from pipelines.services.__main__ import main
from pipelines.services.kafka import KAFKA
from pipelines.services.postgres import POSTGRES


def test_a_broker_keeps_its_records_over_a_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kafka"
    command = ["kafka", "--folder", str(tmp_path)]
    try:
        assert main(["start", *command]) == 0
        address = KAFKA.address(folder)
        assert address is not None
        assert capsys.readouterr().out == f"kafka: {address}\n"
        assert KAFKA.start(folder) == address, "one that runs is left alone"
        admin = AdminClient({"bootstrap.servers": address})
        admin.create_topics([NewTopic("kept", 1)])["kept"].result(30)
        producer = Producer({"bootstrap.servers": address})
        producer.produce("kept", b"value", b"key")
        assert producer.flush(30) == 0

        assert main(["stop", *command]) == 0
        assert main(["status", *command]) == 0
        assert capsys.readouterr().out == "kafka: stopped\nkafka: not running\n"

        assert KAFKA.start(folder) == address
        consumer = Consumer({"bootstrap.servers": address, "group.id": "any"})
        consumer.assign([TopicPartition("kept", 0, 0)])
        found = consumer.poll(30)
        consumer.close()
        assert found is not None
        assert (found.key(), found.value()) == (b"key", b"value")
    finally:
        KAFKA.stop(folder)
    assert KAFKA.address(folder) is None


def test_a_database_keeps_its_tables_over_a_stop(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root gives the server to another user, who must be able to reach it.
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        folder, command = root / "postgres", ["postgres", "--folder", name]
        try:
            assert main(["start", *command]) == 0
            address = POSTGRES.address(folder)
            assert address is not None
            assert capsys.readouterr().out == f"postgres: {address}\n"
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
            # Another process stops it than the one that started it.
            monkeypatch.setattr(POSTGRES, "_started", {})
            assert main(["stop", *command]) == 0
            assert main(["status", *command]) == 0
            assert capsys.readouterr().out == "postgres: stopped\npostgres: not running\n"
            assert POSTGRES.start(folder) == address
            with psycopg.connect(address) as connection:
                assert connection.execute("SELECT one FROM kept").fetchall() == [(1,)]
        finally:
            POSTGRES.stop(folder)


def test_an_unknown_service_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["start", "kafak"])
    assert "unknown service kafak; services are kafka, postgres" in capsys.readouterr().err
