"""What an epoch has read of a table is read again when it is replayed."""

from __future__ import annotations

from pathlib import Path

from runtime.connectors.lookups.filesystem import _copied, _visible
from runtime.connectors.lookups.pins import Pins, remove_but


def test_a_replayed_epoch_reads_what_it_read_before(tmp_path: Path) -> None:
    pins = Pins(tmp_path / "table")
    assert pins.of(0, None, lambda: ("a",)) == ("a",)
    assert pins.of(1, None, lambda: ("b",)) == ("b",)
    assert Pins(tmp_path / "table").of(1, None, lambda: ("c",)) == ("b",)
    assert pins.of(2, None, lambda: ("c",)) == ("c",)
    # A replay can ask for the newest epoch and the one before.
    assert pins.parts() == {"b", "c"}


def test_content_is_kept_until_it_is_too_old(tmp_path: Path) -> None:
    pins = Pins(tmp_path / "table")
    assert pins.of(0, 3_600_000, lambda: ("a",)) == ("a",)
    assert pins.of(1, 3_600_000, lambda: ("b",)) == ("a",)
    assert pins.of(2, 0, lambda: ("b",)) == ("b",)


def test_files_are_copied_when_they_are_first_seen_or_have_changed(tmp_path: Path) -> None:
    table, copies = tmp_path / "in", tmp_path / "copies"
    table.mkdir()
    (table / "t.csv.gz").write_text("one")
    (table / "_hidden").write_text("no")
    files = _visible(table, sorted(table.iterdir()))
    first = _copied(files, copies)
    assert _copied(files, copies) == first
    assert first[0].endswith(".csv.gz")
    (table / "t.csv.gz").write_text("two, written over it")
    second = _copied(files, copies)
    assert second != first
    assert [(copies / name).read_text() for name in (*first, *second)] == ["one", "two, written over it"]
    remove_but(frozenset(second), copies)
    assert [file.name for file in copies.iterdir()] == list(second)
