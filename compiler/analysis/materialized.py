"""`materialized = 'delta' | 'files'`: short for a sink of the model's name under the target's storage."""

from __future__ import annotations

from typing import Final

from compiler.analysis.model_options import ModelOptions
from compiler.syntax.declarations import ModelDecl, OptionDecl, SinkDecl, StepsBody, Text

# What is kept -> the sink's options besides its path.
_SINKS: Final[dict[str, dict[str, str]]] = {
    "delta": {"connector": "delta"},
    "files": {"connector": "filesystem", "format": "parquet"},
}


def sink_of(
    model: ModelDecl, options: ModelOptions, storage: str, key: tuple[str, ...] = ()
) -> SinkDecl | None:
    """The sink that takes all rows of a model, or None where a model is kept as nothing.

    Args:
        model: what is kept.
        options: its options.
        storage: the target's root of what is kept, a folder or an address.
        key: columns by which a changing model's rows are told apart; the sink merges by them.
    """
    kept_as = options.materialized
    connector = _SINKS.get(kept_as.value) if kept_as is not None else None
    if kept_as is None or connector is None:
        return None
    place = kept_as.place
    found = {**connector, "path": f"{storage.rstrip('/')}/{model.name.value}"}
    if options.uid is not None:
        found["uid"] = options.uid.value
    return SinkDecl(
        name=model.name,
        body=StepsBody(model.name, (), place),
        columns=(),
        primary_key=tuple(Text(name, place) for name in key),
        partitioned_by=(),
        options=tuple(OptionDecl(Text(k, place), Text(v, place, True)) for k, v in found.items()),
        span=place,
        description=model.description,
        tags=model.tags,
    )
