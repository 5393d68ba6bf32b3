"""Hashes and encryption: Spark 4.2, `hash.scala`, `misc.scala`."""

from __future__ import annotations

from compiler.functions import kinds as k
from compiler.functions.build import Row, row
from compiler.functions.spec import Nulls
from compiler.plan.types import BIGINT, BINARY, INT, STRING

_KEY = (k.BIN, k.BIN)

TABLE: tuple[Row, ...] = (
    row("aes_decrypt try_aes_decrypt", *_KEY, k.STR, k.STR, k.BIN, to=BINARY, optional=3, nulls=Nulls.ALWAYS),
    # Without an initialisation vector it draws one: other bytes at a replay.
    row(
        "aes_encrypt",
        *_KEY,
        k.STR,
        k.STR,
        k.BIN,
        k.BIN,
        to=BINARY,
        optional=4,
        nulls=Nulls.ALWAYS,
        deterministic=False,
    ),
    row("crc32", k.BIN, to=BIGINT),
    row("hash", k.HASHABLE, to=INT, rest=k.HASHABLE, nulls=Nulls.NEVER),
    row("md5 sha sha1", k.BIN, to=STRING),
    row("sha2", k.BIN, k.INTEGER, to=STRING, nulls=Nulls.ALWAYS),
    row("xxhash64", k.HASHABLE, to=BIGINT, rest=k.HASHABLE, nulls=Nulls.NEVER),
)
