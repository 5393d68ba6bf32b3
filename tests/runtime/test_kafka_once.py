"""Topics of a real broker as sinks that have each row once, whatever is killed."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plans
import pytest
from common import kv, refused
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from kafka_sinks import sink, values, writer
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession
from test_crash import ALL, checkpoint, killed, three_files
from test_kafka_source import make_topic

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from pipelines.services.base import free_port
from pipelines.services.kafka import KAFKA
from runtime.connectors import retries
from runtime.connectors.kafka import client
from runtime.connectors.kafka.ledger import Record, commit_epoch, group_of
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext
from runtime.connectors.sinks.kafka import KafkaWriter
from runtime.jobs.runner import run


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE_SECONDS", 0.1)


def forget_groups(kafka: str, *names: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    for done in admin.delete_consumer_groups(list(names)).values():
        done.result(30)


def orders(kafka: str, topic: str, **more: Any) -> m.Sink:
    return sink(kafka, topic, more, source="scan")


def copying(out: m.Sink) -> m.JobPlan:
    return plans.plan(plans.query((plans.scan(),), "scan", (out,)))


ROWS = [f"{k},{v}" for k, v in ALL]


def test_epoch_is_sent_once(session: SparkSession, kafka: str) -> None:
    topic = make_topic(kafka, 2)
    first = writer(session, sink(kafka, topic))
    assert first.write(0, kv(session, ("a", 1), ("b", 2), ("b", 2), (None, None)))
    assert first.rows_written == 4
    again = writer(session, sink(kafka, topic), begun=0, done=-1)
    assert again.has(0)
    assert not again.write(0, kv(session, ("a", 1)))
    assert again.write(1, kv(session, ("c", 3)))
    assert again.write(2, kv(session))
    # Between epochs, the number of tasks may change.
    wider = writer(session, sink(kafka, topic, {"sink.parallelism": 4}), begun=2)
    assert wider.write(3, kv(session, ("d", 4)))
    assert values(kafka, topic, 2) == [",", "a,1", "b,2", "b,2", "c,3", "d,4"]
    for incarnation, begun in (("two", -1), ("one", 1)):
        with pytest.raises(DiagnosticError) as error:
            writer(session, sink(kafka, topic), incarnation, begun)
        assert refused(error).code.name == "HR405"
    wider.empty()
    assert writer(session, sink(kafka, topic), "two").write(0, kv(session, ("a", 1)))
    assert values(kafka, topic, 2).count("a,1") == 2
    assert writer(session, sink(kafka, make_topic(kafka)), "three").write(0, kv(session))


def test_part_of_an_epoch_is_completed_with_its_own_split(
    session: SparkSession, kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = make_topic(kafka)
    rows = kv(session, *((f"k{n}", n) for n in range(40)), ("big", 1))
    big = rows.selectExpr("IF(k = 'big', repeat('x', 3000), k) AS k", "v")
    narrow: m.Options = {"properties.max.request.size": 2000}
    stopped = writer(session, sink(kafka, topic, narrow))
    with pytest.raises(DiagnosticError) as error:
        stopped.write(0, big)
    assert refused(error).code.name == "HR421"
    there = values(kafka, topic)
    assert 0 < len(there) < 41
    # Another number of tasks is asked for, and the epoch keeps the one that it began with.
    other = sink(kafka, topic, {"sink.parallelism": 2})
    again = writer(session, other, begun=0, done=-1)
    assert again.has(0)
    assert again.write(0, big)
    found = values(kafka, topic)
    assert sorted(f"k{n},{n}" for n in range(40)) == [value for value in found if value[0] == "k"]
    assert len(found) == 41
    assert again.rows_written == 41 - len(there)


def test_zombies_are_fenced(session: SparkSession, kafka: str) -> None:
    """A producer that outlived its run cannot commit any more, nor does it block readers."""
    topic = make_topic(kafka)
    mine = sink(kafka, topic, {"sink.parallelism": 1})
    out = writer(session, mine)
    conf = client.producer_conf({"bootstrap.servers": kafka}, out._ledger.id(0))
    zombie = Producer(conf)
    zombie.init_transactions(30)
    zombie.begin_transaction()
    zombie.produce(topic, b"zombie")
    zombie.flush(10)
    assert out.write(0, kv(session, ("a", 1)))
    with pytest.raises(Exception, match="fenced"):
        zombie.commit_transaction(30)
    assert values(kafka, topic) == ["a,1"]
    # Two runs that begin at once: the later one has the topic, the other one is told.
    other_topic = make_topic(kafka)
    slow, quick = (writer(session, sink(kafka, other_topic), name) for name in ("slow", "quick"))
    assert quick.write(0, kv(session, ("a", 1)))
    with pytest.raises(DiagnosticError) as error:
        slow.write(0, kv(session, ("a", 1)))
    assert refused(error).code.name == "HR405"
    assert "another run has taken" in refused(error).message
    assert values(kafka, other_topic) == ["a,1"]


def test_a_transaction_that_hangs_blocks_readers_for_its_time(session: SparkSession, kafka: str) -> None:
    topic = make_topic(kafka)
    conf = client.client_conf(
        {"properties.bootstrap.servers": kafka, "properties.transaction.timeout.ms": "1500"}
    )
    hanging = Producer(client.producer_conf(conf, f"hanging/{topic}"))
    hanging.init_transactions(30)
    hanging.begin_transaction()
    hanging.produce(topic, b"never")
    hanging.flush(10)
    sender = Producer({"bootstrap.servers": kafka})
    sender.produce(topic, b"later")
    sender.flush(10)
    assert client.transaction_seconds(conf) == 1.5
    assert values(kafka, topic) == []
    end = time.monotonic() + 20
    while not values(kafka, topic):
        assert time.monotonic() < end
    assert values(kafka, topic) == ["later"]


def test_groups_that_are_gone(session: SparkSession, kafka: str) -> None:
    """Kafka deletes offsets that stand still; an epoch in flight is then not sent again unasked."""
    topic = make_topic(kafka)
    mine = sink(kafka, topic)
    first = writer(session, mine)
    first.write(0, kv(session, ("a", 1)))

    def forget(*tasks: int) -> None:
        forget_groups(kafka, *(first._ledger.id(task) for task in tasks))

    # With all epochs done there is nothing that could come twice.
    forget(0, 1, 2)
    second = writer(session, mine, begun=0)
    assert second.write(1, kv(session, ("b", 2)))
    for gone in ((1,), (0, 2)):
        forget(*gone)
        lost = writer(session, mine, begun=1, done=0)
        assert lost.has(1)
        with pytest.raises(DiagnosticError) as error:
            lost.write(1, kv(session, ("b", 2)))
        assert refused(error).code.name == "HR420"
    # Gone while a run was idle: what it begins now nobody has begun before it.
    live = writer(session, mine, begun=1)
    forget(0, 2)
    assert live.write(2, kv(session, *((f"k{n}", 2) for n in range(20))))
    assert values(kafka, topic) == sorted(["a,1", "b,2", *(f"k{n},2" for n in range(20))])
    assert live._ledger.read() == (Record("one", 2, 3),) * 3
    # What a run before has begun may have been sent, wherever the groups went.
    late = writer(session, mine, begun=3, done=2)
    forget(2)
    with pytest.raises(DiagnosticError) as error:
        late.write(3, kv(session, ("d", 4)))
    assert refused(error).code.name == "HR420"


def test_a_forgotten_epoch_is_sent_on_a_word(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    """HR420's way out: once at least once, and then as before."""
    three_files(tmp_path)
    topic = make_topic(kafka)
    plan, again = (
        copying(replace(orders(kafka, topic, **{"sink.parallelism": 1}), delivery=delivery))
        for delivery in ("exactly_once", "at_least_once")
    )
    sent = KafkaWriter.write

    def cut_off(self: KafkaWriter, epoch: int, batch: DataFrame) -> bool:
        sent(self, epoch, batch)
        raise RuntimeError("cut off")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KafkaWriter, "write", cut_off)
        assert len(run(plan, tmp_path, session=session).failures) == 1
    there = values(kafka, topic)
    assert there
    forget_groups(kafka, f"headrace/shop/out/{topic}/0")
    assert [failure.code.name for failure in run(plan, tmp_path, session=session).failures] == ["HR420"]
    assert run(again, tmp_path, session=session).failures == ()
    assert values(kafka, topic) == sorted([*ROWS, *there])
    assert run(plan, tmp_path, session=session).rows_written == 0
    plans.put(tmp_path / "in", "d.csv", ("2024-01-01 00:02:00", "z", 16))
    assert run(plan, tmp_path, session=session).rows_written == 1


def test_a_sink_that_comes_amid_an_epoch_has_all_of_it(
    session: SparkSession, kafka: str, tmp_path: Path
) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:00", "x" * 2000, 0))
    topic, later = make_topic(kafka), make_topic(kafka)
    first = orders(kafka, topic, **{"properties.message.max.bytes": "1000", "sink.parallelism": 1})
    assert [f.code.name for f in run(copying(first), tmp_path, session=session).failures] == ["HR421"]
    second = replace(orders(kafka, later), uid="later")
    mended = orders(kafka, topic, **{"sink.parallelism": 1})
    both = plans.plan(plans.query((plans.scan(),), "scan", (mended, second)))
    assert run(both, tmp_path, session=session).failures == ()
    for name in (topic, later):
        assert values(kafka, name) == ["x" * 2000 + ",0"]


def test_another_topic_amid_an_epoch_that_no_topic_has(
    session: SparkSession, kafka: str, tmp_path: Path
) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:00", "x" * 2000, 0))
    topic, other = make_topic(kafka), make_topic(kafka)
    small = orders(kafka, topic, **{"properties.message.max.bytes": "1000", "sink.parallelism": 1})
    assert [f.code.name for f in run(copying(small), tmp_path, session=session).failures] == ["HR421"]
    assert run(copying(orders(kafka, other)), tmp_path, session=session).failures == ()
    assert (values(kafka, topic), values(kafka, other)) == ([], ["x" * 2000 + ",0"])


def test_epochs_are_forgotten_whatever_was_forgotten_before(session: SparkSession, kafka: str) -> None:
    topic = make_topic(kafka)
    admin = AdminClient({"bootstrap.servers": kafka})

    def groups() -> list[str]:
        listed = admin.list_consumer_groups().result().valid
        return [group.group_id for group in listed if f"/out/{topic}/" in group.group_id]

    wide = writer(session, sink(kafka, topic))
    writer(session, sink(kafka, topic, {"sink.parallelism": 2}), begun=0)
    assert len(groups()) == 3
    # The first one knows how many there are.
    forget_groups(kafka, wide._ledger.id(0))
    wide.empty()
    assert groups() == []
    wide.empty()


def test_a_run_follows_at_once_on_one_that_died_before_its_commit(session: SparkSession, kafka: str) -> None:
    topic = make_topic(kafka)
    mine = sink(kafka, topic, {"properties.request.timeout.ms": "3000", "max_retries": 0})
    dead = writer(session, mine)
    # The last thing before the commit; the broker waits for it for as long as a transaction may take.
    ledger = dead._ledger
    hanging = [Producer(client.producer_conf(ledger.conf, ledger.id(task))) for task in range(3)]
    for task, producer in enumerate(hanging):
        producer.init_transactions(30)
        producer.begin_transaction()
        commit_epoch(producer, group_of(ledger.conf, ledger.id(task)), ledger, Record("one", 0, 3))
    again = writer(session, mine, begun=0, done=-1)
    assert not again.has(0)
    assert again.write(0, kv(session, ("a", 1)))
    assert values(kafka, topic) == ["a,1"]


def test_what_stands_in_the_way_is_named(session: SparkSession, kafka: str) -> None:
    wrong: tuple[tuple[dict[str, Any], str, str], ...] = (
        ({"topic": "nobody_made_this"}, "HR419", "does not exist"),
        ({"properties.lingr.ms": "5"}, "HR104", "lingr.ms"),
        ({"properties.ssl.truststore.location": "store.jks"}, "HR104", "JKS"),
        ({"properties.sasl.jaas.config": 'Module required user="hunter22";',
          "properties.security.protocol": "SASL_SSL", "properties.sasl.mechanism": "PLAIN"},
         "HR104", "no username"),
        # The broker has no such listener: who asks for a login is not answered.
        ({"properties.security.protocol": "SASL_PLAINTEXT", "properties.sasl.mechanism": "PLAIN",
          "properties.sasl.username": "ann", "properties.sasl.password": "hunter22",
          "properties.request.timeout.ms": "2000"}, "HR610", "cannot write"),
        ({"properties.bootstrap.servers": f"127.0.0.1:{free_port()}"}, "HR610", "tried 1 times"),
    )  # fmt: skip
    for options, code, text in wrong:
        with pytest.raises(DiagnosticError) as error:
            writer(session, sink(kafka, "t", {"max_retries": 0, **options}))
        found = refused(error)
        said = f"{found.message} {found.cause} {found.fix}"
        assert (found.code.name, text in said) == (code, True), said
        assert "hunter22" not in f"{said} {error.value}"
    # Before a state is deleted, which the run that comes next would then miss.
    context = SinkContext(session, "shop", Path(), print)
    for options, code in (({"topic": "nobody_made_this"}, "HR419"), (wrong[-1][0], "HR610")):
        with pytest.raises(DiagnosticError) as error:
            SINKS["kafka"](sink(kafka, "t", {"max_retries": 0, **options}), context).check_empty()
        assert refused(error).code.name == code


def test_killed_amid_the_tasks_of_an_epoch(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    three_files(tmp_path)
    topic, other = make_topic(kafka, 2), make_topic(kafka)
    killed(copying(orders(kafka, topic)), tmp_path, "sent:1")
    assert checkpoint(tmp_path).in_flight
    assert len(values(kafka, topic, 2)) < len(ALL)
    # The project is changed: what was begun is finished as it was begun, in the old topic.
    plan = copying(orders(kafka, other))
    assert run(plan, tmp_path, session=session).failures == ()
    assert sorted(values(kafka, topic, 2) + values(kafka, other)) == sorted(ROWS)
    assert run(plan, tmp_path, session=session).rows_written == 0
    shutil.rmtree(tmp_path / ".headrace")
    with pytest.raises(DiagnosticError) as error:
        run(plan, tmp_path, session=session)
    assert refused(error).code.name == "HR405"
    there = values(kafka, other)
    assert run(plan, tmp_path, session=session, full_refresh=True).failures == ()
    assert values(kafka, other) == sorted([*ROWS, *there])


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A broker that may be stopped."""
    folder = tmp_path / "broker"
    yield KAFKA.start(folder), folder
    KAFKA.stop(folder)


@pytest.mark.soak
def test_broker_that_comes_back_and_one_that_does_not(
    session: SparkSession, own_broker: tuple[str, Path], tmp_path: Path
) -> None:
    kafka, folder = own_broker
    three_files(tmp_path)
    topic = make_topic(kafka)
    plan = copying(orders(kafka, topic, max_retries=20))

    def stop_when_it_runs(_: object) -> None:
        KAFKA.kill(folder)

    back: list[threading.Timer] = []

    def away_for_a_while(_: object) -> None:
        if not back:
            KAFKA.kill(folder)
            back.append(threading.Timer(1.0, KAFKA.start, (folder,)))
            back[0].start()

    assert run(plan, tmp_path, session=session, events=away_for_a_while).failures == ()
    back[0].join()
    assert values(kafka, topic) == sorted(ROWS)
    plans.put(tmp_path / "in", "d.csv", ("2024-01-01 00:02:00", "z", 16))
    hasty = copying(orders(kafka, topic, max_retries=0, **{"properties.request.timeout.ms": "2000"}))
    failed = run(hasty, tmp_path, session=session, events=stop_when_it_runs)
    assert [failure.code.name for failure in failed.failures] == ["HR610"]
    with pytest.raises(DiagnosticError) as error:
        run(hasty, tmp_path, session=session)
    assert refused(error).code.name == "HR610"
    KAFKA.start(folder)
    assert run(hasty, tmp_path, session=session).failures == ()
    assert values(kafka, topic) == sorted([*ROWS, "z,16"])


def test_rows_without_anything_exact_are_one_tasks(session: SparkSession, kafka: str) -> None:
    topic = make_topic(kafka)
    lists = sink(kafka, topic, {"format": "json"}, (m.Column("list", "ARRAY<INT>"),))
    out = writer(session, lists)
    assert out.write(0, session.sql("SELECT array(n) AS list FROM VALUES (1), (2), (3) AS t(n)"))
    assert values(kafka, topic) == ['{"list":[1]}', '{"list":[2]}', '{"list":[3]}']
    # The others have noted that they have nothing of the epoch.
    assert out._ledger.read() == (Record("one", 0, 3),) * 3
