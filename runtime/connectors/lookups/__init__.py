"""Sources read as tables, by name of their connector. A new one is a file here and a line in this list."""

from __future__ import annotations

from runtime.connectors.lookups.base import Lookup
from runtime.connectors.lookups.filesystem import FilesystemLookup

LOOKUPS: dict[str, Lookup] = {"filesystem": FilesystemLookup()}
