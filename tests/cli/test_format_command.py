"""`headrace format`: what it writes, and what it only shows."""

from __future__ import annotations

from pathlib import Path

from shop import Invoke

UGLY = "-- why\nselect id,price , ts from orders where price>${min_price} -- enough\n"
NEAT = "-- why\nSELECT id, price, ts\nFROM orders\nWHERE price > ${min_price} -- enough\n"


def test_files_are_written(invoke: Invoke, shop: Path) -> None:
    invoke("format")
    (shop / "models/big.sql").write_text(UGLY)
    (shop / "models/big.sql").chmod(0o640)
    result = invoke("format")
    assert result.exit_code == 0
    assert result.stdout == "1 file changed, 2 files stayed\n"
    assert (shop / "models/big.sql").read_text() == NEAT
    assert (shop / "models/big.sql").stat().st_mode & 0o777 == 0o640
    assert invoke("format").stdout == "0 files changed, 3 files stayed\n"
    assert invoke("compile").exit_code == 0


def test_check_writes_nothing(invoke: Invoke, shop: Path) -> None:
    invoke("format")
    assert invoke("format", "--check").exit_code == 0
    (shop / "models/big.sql").write_text(UGLY)
    result = invoke("format", "--check", "models", "sources/orders.sql")
    assert result.exit_code == 1
    assert result.stdout == "would change models/big.sql\n1 file would change, 1 file would stay\n"
    assert (shop / "models/big.sql").read_text() == UGLY


def test_diff(invoke: Invoke, shop: Path) -> None:
    (shop / "models/big.sql").write_text(UGLY)
    result = invoke("format", "--diff", "models/big.sql")
    assert result.exit_code == 0
    assert "--- models/big.sql\n+++ models/big.sql\n" in result.stdout
    assert "+WHERE price > ${min_price} -- enough\n" in result.stdout
    assert (shop / "models/big.sql").read_text() == UGLY


def test_files_that_cannot_be_read(invoke: Invoke, shop: Path) -> None:
    assert "HR605" in invoke("format", "models/none.sql").stderr
    (shop / "models/bad.sql").write_bytes(b"SELECT '\xff'")
    result = invoke("format")
    assert result.exit_code == 2
    assert "error[HR109]" in result.stderr
