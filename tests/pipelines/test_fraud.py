"""The pipeline of `pipelines/fraud`, from a real topic into a real topic and a real table."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from postgres_database import Database
from pyspark.sql import SparkSession

import headrace
from pipelines.fraud.demo import alerts, environment
from pipelines.fraud.payments import Payment, made_up, make_topics, send
from runtime.jobs.runner import run

FRAUD = Path(__file__).parents[2] / "pipelines" / "fraud"
Habit = tuple[str, datetime, int, int, Decimal, Decimal]


@pytest.mark.timeout(300)
def test_stolen_cards_and_habits(
    session: SparkSession, kafka: str, postgres: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.server.url(postgres.name)
    for name, value in environment(kafka, url).items():
        monkeypatch.setenv(name, value)
    project = tmp_path / "fraud"
    shutil.copytree(FRAUD, project, ignore=shutil.ignore_patterns(".headrace", "target", "out", "*.py"))
    payments = made_up()
    assert make_topics(kafka)
    early, late = payments[:1200], payments[1200:]
    send(kafka, early, garbage=[b"not a payment"])
    _run(project, session)
    assert not make_topics(kafka)
    send(kafka, late)
    _run(project, session, on_end="close")

    found = sorted(
        (a["card"], a["trials"], a["payment_id"], Decimal(str(a["amount"]))) for a in alerts(kafka)
    )
    assert found == tried(payments)
    assert 3 < len(found) < 12
    read = "SELECT card, window_start, payments, merchants, spent, largest FROM card_habits ORDER BY 1, 2"
    assert postgres.rows(read) == habits(payments)
    unreadable = "".join(file.read_text() for file in (project / "out/unreadable").glob("part-*"))
    assert json.loads(unreadable)["raw"] == "not a payment"


def _run(project: Path, session: SparkSession, **options: Any) -> None:
    plan = headrace.compile(project).plan
    assert plan is not None
    report = run(plan, project, session=session, **options)
    assert report.failures == ()
    assert report.late_rows_dropped == 0


def tried(payments: list[Payment]) -> list[tuple[str, int, str, Decimal]]:
    """What a card's payments are by their amounts: trials in a row, then a large one."""
    cards: dict[str, list[Payment]] = defaultdict(list)
    for payment in sorted(payments, key=lambda payment: payment.paid_at):
        cards[payment.card].append(payment)
    found = []
    for card, row in cards.items():
        trials = 0
        for payment in row:
            if payment.amount >= 300 and trials >= 2:
                found.append((card, trials, payment.payment_id, payment.amount))
            trials = trials + 1 if payment.amount < 2 else 0
    return sorted(found)


def habits(payments: list[Payment]) -> list[Habit]:
    """Sums of ten minutes."""
    groups: dict[tuple[str, datetime], list[Payment]] = defaultdict(list)
    for payment in payments:
        at = payment.paid_at.replace(minute=payment.paid_at.minute // 10 * 10, second=0, microsecond=0)
        groups[payment.card, at].append(payment)
    return sorted(
        (
            card,
            at,
            len(group),
            len({payment.merchant for payment in group}),
            sum((payment.amount for payment in group), Decimal(0)),
            max(payment.amount for payment in group),
        )
        for (card, at), group in groups.items()
    )


def test_payments_are_made_up_alike_and_no_card_is_slow() -> None:
    payments = made_up(hours=2, seed=3)
    assert payments == made_up(hours=2, seed=3)
    assert [p.reported_at for p in payments] == sorted(p.reported_at for p in payments)
    assert all(timedelta(0) <= p.reported_at - p.paid_at <= timedelta(seconds=20) for p in payments)
    assert len({p.payment_id for p in payments}) == len(payments) > 3600
