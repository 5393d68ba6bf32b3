"""All of it on this machine: starts both servers, sends payments, runs the pipeline, shows what came out.

    python -m pipelines.fraud.demo              # an hour of payments
    python -m pipelines.fraud.demo --hours 24

The servers are those of `make services`, and go on. Payments are sent the first time only; run it again, and
nothing is read or written twice.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from confluent_kafka import Consumer, TopicPartition
from rich.console import Console
from rich.table import Table

from pipelines.fraud.payments import ALERTS, made_up, make_topics, send
from pipelines.services.__main__ import FOLDER
from pipelines.services.kafka import KAFKA
from pipelines.services.postgres import POSTGRES

HERE = Path(__file__).parent
_HABITS = """
SELECT card, sum(payments), sum(spent), max(largest)
FROM card_habits GROUP BY card ORDER BY sum(spent) DESC LIMIT 5
"""


def environment(broker: str, url: str) -> dict[str, str]:
    """What the project asks the environment for.

    Args:
        broker: Kafka's address.
        url: PostgreSQL's, with user and password.
    """
    login = psycopg.conninfo.conninfo_to_dict(url)
    return {
        "FRAUD_KAFKA": broker,
        "FRAUD_POSTGRES": f"jdbc:postgresql://{login['host']}:{login['port']}/{login['dbname']}",
        "FRAUD_USER": str(login["user"]),
        "FRAUD_PASSWORD": str(login["password"]),
    }


def alerts(broker: str) -> Iterator[dict[str, Any]]:
    """All alerts that were committed.

    Args:
        broker: Kafka's address.
    """
    settings = {"bootstrap.servers": broker, "group.id": "fraud-demo", "isolation.level": "read_committed"}
    consumer = Consumer({**settings, "enable.auto.commit": False, "enable.partition.eof": True})
    partitions = consumer.list_topics(ALERTS, timeout=30).topics[ALERTS].partitions
    consumer.assign([TopicPartition(ALERTS, partition, 0) for partition in partitions])
    ended = 0
    while ended < len(partitions):
        message = consumer.poll(30)
        if message is None:
            raise TimeoutError("the broker sends nothing")
        if message.error():
            ended += 1
        else:
            yield json.loads(message.value() or b"null")
    consumer.close()


def main() -> int:
    """Gives the exit code of the run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=int, default=1)
    given = parser.parse_args()
    folder = FOLDER.absolute()
    broker, url = KAFKA.start(folder / KAFKA.name), POSTGRES.start(folder / POSTGRES.name)
    if make_topics(broker):
        payments = made_up(given.hours)
        send(broker, payments, garbage=[b"not a payment"])
        print(f"sent {len(payments)} payments and one message that is none to {broker}", flush=True)
    program = Path(sys.executable).with_name("headrace")
    command = [str(program), "run", "--project-dir", str(HERE)]
    code = subprocess.run(command, env=os.environ | environment(broker, url), check=False).returncode
    if code == 0:
        show(broker, url)
    return code


def show(broker: str, url: str) -> None:
    """Prints what the sinks hold, read without headrace.

    Args:
        broker: Kafka's address.
        url: PostgreSQL's, with user and password.
    """
    console = Console()
    tried = Table("card", "trials", "began at", "emptied at", "amount", title="Alerts, from Kafka")
    for alert in sorted(alerts(broker), key=lambda alert: str(alert["emptied_at"]))[:10]:
        tried.add_row(*(str(alert[name]) for name in ("card", "trials", "began_at", "emptied_at", "amount")))
    console.print(tried)
    habits = Table("card", "payments", "spent", "largest", title="Cards that spent most, from PostgreSQL")
    with psycopg.connect(url) as connection:
        for row in connection.execute(_HABITS):
            habits.add_row(*map(str, row))
    console.print(habits)


if __name__ == "__main__":
    sys.exit(main())
