"""A database of a test's own, read without Spark and without the code under test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from pipelines.services.postgres import PostgresServer


@dataclass
class Database:
    """A database of a server; `options` are those of a sink that writes to it."""

    server: PostgresServer
    name: str

    @property
    def options(self) -> dict[str, Any]:
        return {
            "url": self.server.jdbc_url(self.name),
            "username": self.server.user,
            "password": self.server.password,
        }

    def execute(self, *statements: str) -> None:
        with psycopg.connect(self.server.url(self.name)) as connection:
            for statement in statements:
                connection.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.server.url(self.name)) as connection:
            return connection.execute(query).fetchall()

    def create(self) -> None:
        self._as_admin(f"CREATE DATABASE {self.name}")

    def drop(self) -> None:
        self._as_admin(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")

    def _as_admin(self, statement: str) -> None:
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            connection.execute(statement)
