"""From a topic through windows into four sinks at once, and killed on the way: each holds each row once."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import four_sinks
import pytest
from four_sinks import Victim, begun, doubled_or_lost, expected, outputs, send
from postgres_database import Database
from pyspark.sql import SparkSession
from test_crash import killed
from test_kafka_source import make_topic
from test_policies import compiled

from pipelines.services.kafka import KAFKA
from pipelines.services.postgres import PostgresServer
from runtime.jobs.events import EpochCompleted, Event
from runtime.jobs.runner import run

VICTIMS = ("driver", "jvm", "worker")
# The long form.
ROWS, KILLS, RESTARTS = 500_000, 20, 4


def wait_for_epoch(victim: Victim, root: Path) -> None:
    """Waits until a run that has been started begins an epoch, or ends."""
    before, end = begun(root), time.monotonic() + 120
    while victim.alive and begun(root) == before and time.monotonic() < end:
        time.sleep(0.05)


def strike(victim: Victim, what: str) -> bool:
    """Kills a part of a run as soon as there is one; False if the run ends before."""
    while victim.alive:
        if victim.kill(what):
            return True
        time.sleep(0.05)
    return False


def test_killed_in_each_part(session: SparkSession, kafka: str, postgres: Database, tmp_path: Path) -> None:
    rows = 2500
    source, target = make_topic(kafka, 2), make_topic(kafka, 2)
    plan = compiled(tmp_path, four_sinks.project(kafka, source, target, postgres, 500))
    send(kafka, source, 0, rows)
    # The topic has the epoch, its neighbours have not.
    killed(plan, tmp_path, "after:to_topic:2")
    dead: list[bool] = []

    def kill_a_worker(event: Event) -> None:
        if isinstance(event, EpochCompleted) and not any(dead):
            dead.append(four_sinks.kill(os.getpid(), "worker"))

    run(plan, tmp_path, session=session, events=kill_a_worker)
    assert any(dead)
    assert run(plan, tmp_path, session=session, on_end="close").failures == ()
    wanted = expected(rows)
    for name, found in outputs(kafka, target, postgres, tmp_path).items():
        assert doubled_or_lost(found, wanted) == (0, 0), name


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_at_random(tmp_path: Path, session: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty kills at random moments, and servers that crash in between."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-four-"))
    folder.chmod(0o755)
    server, broker = PostgresServer(folder / "postgres"), folder / "kafka"
    chance = random.Random(7)
    dead: Counter[str] = Counter()
    failed = sent = restarts = 0
    started = time.monotonic()
    try:
        server.start()
        kafka = KAFKA.start(broker)
        database = Database(server, "four")
        database.create()
        source, target = make_topic(kafka, 2), make_topic(kafka, 2)
        plan = compiled(tmp_path, four_sinks.project(kafka, source, target, database, 5000))
        portion = ROWS // KILLS // 2
        # Twice as many runs as kills: one may end before it is killed.
        while dead.total() < KILLS and sent + portion <= ROWS:
            send(kafka, source, sent, portion)
            sent += portion
            victim = Victim(plan, tmp_path)
            wait_for_epoch(victim, tmp_path)
            time.sleep(chance.uniform(0, 5))
            what = VICTIMS[dead.total() % 3]
            dead[what] += strike(victim, what)
            if dead.total() >= KILLS * (restarts + 1) / (RESTARTS + 1) and restarts < RESTARTS:
                restarts += 1
                KAFKA.kill(broker)
                server.crash()
                server.start()
                KAFKA.start(broker)
            failed += victim.wait() != 0
        assert dead.total() == KILLS
        send(kafka, source, sent, ROWS - sent)
        assert run(plan, tmp_path, session=session, on_end="close").failures == ()
        wanted = expected(ROWS)
        found = outputs(kafka, target, database, tmp_path)
        wrong = {name: doubled_or_lost(rows, wanted) for name, rows in found.items()}
    finally:
        KAFKA.stop(broker)
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{ROWS} rows, {len(wanted)} windows, {begun(tmp_path)} epochs, killed {dict(dead)}, "
            f"{failed} runs cut off, servers crashed {restarts} times: doubled and lost {wrong}, "
            f"{time.monotonic() - started:.0f} s\n"
        )
    assert set(wrong.values()) == {(0, 0)}
