"""Makes up payments, some of them with stolen cards, and sends them to a topic.

python payments.py BROKER             # an hour of 100 cards to the topic `payments`
python payments.py BROKER --hours 24
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
PAYMENTS, ALERTS = "payments", "alerts"
_PARTITIONS = 4
_CARDS = 100
_SECONDS_BETWEEN = 2
# How late a till reports, at most; the source's watermark waits longer.
_LATEST_S = 20


@dataclass(frozen=True)
class Payment:
    """A payment, and when its till reports it."""

    payment_id: str
    card: str
    merchant: str
    amount: Decimal
    paid_at: datetime
    reported_at: datetime

    @property
    def record(self) -> bytes:
        """The message's value."""
        paid_at = self.paid_at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        fields = {"payment_id": self.payment_id, "card": self.card, "merchant": self.merchant}
        return json.dumps(fields | {"amount": float(self.amount), "paid_at": paid_at}).encode()


def made_up(hours: int = 1, seed: int = 7) -> list[Payment]:
    """Payments in the order in which they are reported, the same for the same arguments.

    Args:
        hours: how much event time they cover, from `BEGIN` on.
        seed: of the random numbers.
    """
    dice = random.Random(seed)  # noqa: S311  # made-up payments keep no secret
    found: list[Payment] = []

    def pay(card: str, amount: Decimal, at: datetime) -> None:
        merchant = f"m{dice.randrange(40):02}"
        reported = at + timedelta(seconds=dice.uniform(0, _LATEST_S))
        found.append(Payment(f"p{len(found):06}", card, merchant, amount, at, reported))

    for number in range(hours * 3600 // _SECONDS_BETWEEN):
        at = BEGIN + timedelta(seconds=number * _SECONDS_BETWEEN, milliseconds=dice.randrange(1000))
        pay(f"c{dice.randrange(_CARDS):03}", _cents(dice, 3_00, 250_00), at)
    for number in range(hours * 12):
        # A card that nobody else uses at the time: trials some seconds apart, then all that it has.
        at = BEGIN + timedelta(minutes=5 * number, seconds=dice.randrange(60))
        card = f"s{number:03}"
        for _ in range(dice.randint(1, 4)):
            pay(card, _cents(dice, 10, 1_90), at)
            at += timedelta(seconds=dice.randint(5, 40))
        pay(card, _cents(dice, 300_00, 900_00), at)
    return sorted(found, key=lambda payment: payment.reported_at)


def _cents(dice: random.Random, least: int, most: int) -> Decimal:
    return Decimal(dice.randint(least, most)) / 100


def make_topics(broker: str) -> bool:
    """Makes the topics that are not there yet, and says whether that of payments is new.

    Args:
        broker: its address.

    Raises:
        KafkaException: they could not be made.
    """
    admin = AdminClient({"bootstrap.servers": broker})
    there = admin.list_topics(timeout=30).topics
    missing = [NewTopic(name, _PARTITIONS) for name in (PAYMENTS, ALERTS) if name not in there]
    for made in admin.create_topics(missing).values() if missing else ():
        made.result(30)
    return PAYMENTS not in there


def send(broker: str, payments: Sequence[Payment], garbage: Sequence[bytes] = ()) -> None:
    """Sends payments, one message each, by card.

    Args:
        broker: its address.
        payments: in the order in which they are sent; those of a card stay in it.
        garbage: messages that are no payments, sent before them.

    Raises:
        KafkaException: some were not taken.
    """
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 20, "enable.idempotence": True})
    for value in garbage:
        producer.produce(PAYMENTS, value)
    for payment in payments:
        while True:
            try:
                producer.produce(PAYMENTS, payment.record, payment.card)
                break
            except BufferError:
                producer.poll(0.1)
    if producer.flush(60):
        raise KafkaException("the broker did not take all payments")


def main() -> None:
    """Makes the topics and sends an hour, or more, of payments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("broker")
    parser.add_argument("--hours", type=int, default=1)
    given = parser.parse_args()
    make_topics(given.broker)
    payments = made_up(given.hours)
    send(given.broker, payments)
    print(f"sent {len(payments)} payments to {given.broker}")


if __name__ == "__main__":
    main()
