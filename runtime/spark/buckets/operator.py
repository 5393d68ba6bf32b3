"""What an operator with state by bucket has to say and do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

    from runtime.spark.buckets.state import BucketState, StateTable


@dataclass(frozen=True, slots=True)
class Watermarks:
    """The watermarks of an epoch, in milliseconds.

    Args:
        late_ms: rows at or before it are late; the watermark known at the end of the epoch before the last.
        current_ms: what lies at or before it is complete; the watermark known at the end of the last epoch.
        processing_ms: the epoch's logged time, the same if the epoch is replayed.
    """

    late_ms: int
    current_ms: int
    processing_ms: int = 0


class BucketOperator(ABC):
    """A stateful operator over the rows of one bucket; see the package for how it is called.

    One object serves all buckets of a task and is made anew for the next: what is to last is in the state.
    """

    version: ClassVar[int] = 1
    """Of what `tables` hold; state of another version is not read but refused."""

    readable: ClassVar[frozenset[int]] = frozenset()
    """Versions before it whose state is read all the same, and is of this version once it is written."""

    @property
    @abstractmethod
    def tables(self) -> Sequence[StateTable]:
        """What is kept."""

    @property
    def late_columns(self) -> Sequence[str | None]:
        """For each input, the timestamp column by which a row is late; None keeps all of the input's rows."""
        return (None,)

    @abstractmethod
    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Takes the bucket's rows of an epoch, one table an input.

        Returns:
            Rows to emit at once, with the columns of the output by name.
        """

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Emits and removes what the watermark has passed, and sets `state.wake_ms` for what has not."""
        del watermarks
        state.wake_ms = None
        return None
