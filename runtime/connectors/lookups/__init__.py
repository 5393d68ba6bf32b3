"""Sources read as tables, by name of their connector. A new one is a file here and a line in this list."""

from __future__ import annotations

from runtime.connectors.lookups.base import Lookup
from runtime.connectors.lookups.delta import DeltaLookup
from runtime.connectors.lookups.filesystem import FilesystemLookup
from runtime.connectors.lookups.jdbc import JdbcLookup

LOOKUPS: dict[str, Lookup] = {
    "filesystem": FilesystemLookup(),
    "delta": DeltaLookup(),
    "jdbc": JdbcLookup(),
}
