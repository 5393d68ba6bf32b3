"""METADATA columns: what a connector knows of a row besides its columns."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.analysis.typing import can_cast
from compiler.connectors import Connector
from compiler.connectors.spec import Metadata
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.syntax.data_types import parse_type
from compiler.syntax.declarations import ColumnDecl


def metadata_keys(
    columns: Sequence[ColumnDecl], connector: Connector, reporter: Reporter
) -> tuple[tuple[str, str], ...]:
    """The columns of a source that are metadata, each with its key; what is wrong is reported.

    A type other than the connector's is a cast, as in Flink: HR224 for a key that the connector does not
    have, HR206 for a type that its value cannot be cast to.
    """
    found: list[tuple[str, str]] = []
    for column in columns:
        if column.metadata is None:
            continue
        known = {metadata.key: metadata for metadata in connector.metadata}
        metadata = known.get(column.metadata.value)
        if metadata is None:
            reporter.add(_unknown(column, connector))
            continue
        if column.type is not None:
            _check_type(column, metadata, reporter)
        found.append((column.name.value, metadata.key))
    return tuple(found)


def written_metadata(
    columns: Sequence[ColumnDecl], connector: Connector, once: bool, reporter: Reporter
) -> tuple[tuple[str, str], ...]:
    """The columns of a sink that are sent beside its rows, each with its key; what is wrong is reported.

    HR224 for metadata that cannot be written, which a column that is not VIRTUAL would have to be, and for
    what two columns write. HR206 for a type that cannot be cast to that of the connector. `once` says whether
    the sink delivers exactly once.
    """
    found: list[tuple[str, str]] = []
    able = {metadata.key: metadata for metadata in connector.metadata if metadata.writable}
    for column in columns:
        if column.metadata is None or column.virtual:
            continue
        metadata = able.get(column.metadata.value)
        if metadata is None:
            reporter.add(_not_written(column, connector, list(able)))
            continue
        first = next((name for name, key in found if key == metadata.key), None)
        if first is not None:
            reporter.add(_written_twice(column, metadata, first))
            continue
        if metadata.only_once and not once:
            reporter.add(_not_resent(column, connector))
        if column.type is not None:
            _check_type(column, metadata, reporter)
        found.append((column.name.value, metadata.key))
    return tuple(found)


def _not_written(column: ColumnDecl, connector: Connector, able: Sequence[str]) -> Diagnostic:
    assert column.metadata is not None
    return Diagnostic(
        codes.UNKNOWN_METADATA,
        f"connector `{connector.name}` writes no metadata `{column.metadata.value}`",
        column.name.span,
        cause=f"column `{column.name.value}` is not VIRTUAL, so it is to be written"
        + (f"; what can be is {one_of(able)}" if able else ""),
        fix="add VIRTUAL, and the column is there only where the table is read",
    )


def _written_twice(column: ColumnDecl, metadata: Metadata, first: str) -> Diagnostic:
    return Diagnostic(
        codes.UNKNOWN_METADATA,
        f"metadata `{metadata.key}` is written twice",
        column.name.span,
        cause=f"column `{first}` is written as it, and a row has it once",
        fix="add VIRTUAL to one of the columns",
    )


def _not_resent(column: ColumnDecl, connector: Connector) -> Diagnostic:
    assert column.metadata is not None
    return Diagnostic(
        codes.UNKNOWN_METADATA,
        f"connector `{connector.name}` writes `{column.metadata.value}` only under delivery = 'exactly_once'",
        column.name.span,
        cause="at_least_once sends by Spark's own writer, which does not take it",
        fix="remove the option delivery, or add VIRTUAL to the column",
    )


def _unknown(column: ColumnDecl, connector: Connector) -> Diagnostic:
    assert column.metadata is not None
    keys = [metadata.key for metadata in connector.metadata]
    return Diagnostic(
        codes.UNKNOWN_METADATA,
        f"connector `{connector.name}` has no metadata `{column.metadata.value}`",
        column.metadata.span,
        cause=f"it gives {one_of(keys)}" if keys else "it knows nothing of a row but its columns",
        fix=did_you_mean(column.metadata.value, keys) or (None if keys else "leave the column out"),
    )


def _check_type(column: ColumnDecl, metadata: Metadata, reporter: Reporter) -> None:
    assert column.type is not None
    try:
        declared = parse_type(column.type)
    except DiagnosticError:
        return  # told where the columns are read
    if not can_cast(metadata.type, declared):
        reporter.add(
            Diagnostic(
                codes.TYPE_MISMATCH,
                f"metadata `{metadata.key}` is {metadata.type} and cannot be cast to {declared}",
                column.type.span(),
                fix=f"declare {metadata.type}",
            )
        )
