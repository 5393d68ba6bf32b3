"""Clients of librdkafka: what options of Java's clients mean to them, and which failures may pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from compiler.jobplan.model import Options
from runtime.connectors import retries
from runtime.connectors.kafka.security import given, login_of, store_of
from runtime.connectors.retries import Passing

_T = TypeVar("_T")

Conf = dict[str, Any]

_CALL_MS: Final = 15_000
_TRANSACTION_TIMEOUT_MS: Final = 120_000

# Java's names of what librdkafka calls otherwise.
_RENAMED: Final = {
    "max.request.size": "message.max.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
# Of Java's client, or of consumers alone; or what a transaction fixes by itself.
_WITHOUT_EFFECT: Final = frozenset(
    "acks enable.idempotence transactional.id group.id enable.auto.commit isolation.level auto.offset.reset "
    "key.serializer value.serializer key.deserializer value.deserializer partitioner.class max.block.ms "
    "default.api.timeout.ms max.poll.records max.poll.interval.ms fetch.min.bytes fetch.max.bytes "
    "max.partition.fetch.bytes delivery.timeout.ms retries metadata.max.idle.ms "
    "ssl.truststore.type ssl.keystore.type ssl.truststore.password sasl.jaas.config".split()
)

_REFUSED_LOGIN: Final = frozenset((
    KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError._SSL, KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
))  # fmt: skip
_NO_TOPIC: Final = frozenset((
    KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION,
))  # fmt: skip
_UNSENDABLE: Final = frozenset((
    KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD, KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_TIMESTAMP, KafkaError.INVALID_MSG,
))  # fmt: skip
_PASSING: Final = frozenset((
    KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE,
    KafkaError._RESOLVE, KafkaError._MSG_TIMED_OUT, KafkaError._WAIT_COORD, KafkaError._DESTROY,
    KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT, KafkaError._FENCED, KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.CONCURRENT_TRANSACTIONS,
    KafkaError.UNSTABLE_OFFSET_COMMIT, KafkaError.REQUEST_TIMED_OUT, KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND, KafkaError.NETWORK_EXCEPTION, KafkaError._STATE,
    KafkaError.INVALID_TXN_STATE, KafkaError.UNKNOWN_PRODUCER_ID, KafkaError.INVALID_PRODUCER_ID_MAPPING,
))  # fmt: skip

# What a failure comes from, and so what a person can do about it.
UNREACHABLE, LOGIN, TOPIC, MESSAGE, OTHER = "unreachable", "login", "topic", "message", "other"


class Failed(Exception):
    """What went wrong at the broker: `kind` is one of the above, the message one line."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def client_conf(options: Options) -> Conf:
    """A client's configuration for the options under `properties.`, which are those of Java's client.

    Raises:
        BadOption: there is no such thing in librdkafka.
    """
    found = given(options)
    # What its log says the exceptions say too, and once.
    conf: Conf = {"log_level": 0}
    for name, value in found.items():
        if name == "buffer.memory":
            conf["queue.buffering.max.kbytes"] = max(1, int(value) // 1024)
        elif name in ("ssl.truststore.location", "ssl.keystore.location"):
            conf.update(store_of(name, found))
        elif name == "ssl.endpoint.identification.algorithm":
            conf[name] = value or "none"
        elif name not in _WITHOUT_EFFECT:
            conf[_RENAMED.get(name, name)] = value
    return conf | login_of(found)


def producer_conf(conf: Conf, transactional_id: str) -> Conf:
    """The configuration of a producer: a client's with what transactions and throughput ask for."""
    return {
        # As Java's client places keys, so that rows of a key stay together whoever sends them.
        "partitioner": "murmur2_random",
        # Nobody reads a message before the transaction is committed, which waits for none: so batches get
        # full. With 20 ms those of messages with keys, which go to all partitions, took 10 % more CPU.
        "linger.ms": 300,
        "queue.buffering.max.messages": 500_000,
        "queue.buffering.max.kbytes": 65_536,
        "transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS,
        **conf,
        "transactional.id": transactional_id,
    }


def call_seconds(conf: Conf) -> float:
    """How long a single question to the broker may take."""
    return int(conf.get("socket.timeout.ms", _CALL_MS)) / 1000


def transaction_seconds(conf: Conf) -> float:
    """How long a transaction may take before the broker aborts it."""
    return int(conf.get("transaction.timeout.ms", _TRANSACTION_TIMEOUT_MS)) / 1000


def failed(error: BaseException) -> Failed:
    """An exception of librdkafka, judged."""
    if isinstance(error, Failed):
        return error
    first = error.args[0] if error.args else None
    if not isinstance(first, KafkaError):
        return Failed(OTHER, str(error))
    return Failed(_kind(first), str(first.str()))


def _kind(error: KafkaError) -> str:
    code = error.code()
    if code in _REFUSED_LOGIN:
        return LOGIN
    if code in _NO_TOPIC:
        return TOPIC
    if code in _UNSENDABLE:
        return MESSAGE
    return UNREACHABLE if code in _PASSING or error.retriable() or error.txn_requires_abort() else OTHER


def retried(times: int, step: Callable[[], _T]) -> _T:
    """Does a step, again and again while the broker is away.

    Raises:
        Failed: it failed for good, or once more than `times`.
    """

    def judged() -> _T:
        try:
            return step()
        except KafkaException as error:
            raise failed(error) from error

    return retries.retried(times, judged, _passing)


def _passing(error: Exception) -> Passing | None:
    if isinstance(error, Failed) and error.kind == UNREACHABLE:
        return Passing(f"kafka: {error.detail}")
    return None
