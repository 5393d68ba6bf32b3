"""The rows that all systems read: JSON lines, out of order by up to two seconds, ten a millisecond."""

from __future__ import annotations

import os
import random
from pathlib import Path

from bench.chaining.workloads import BASE_MS, FAR_MS, RATES

FILES = 8
_ROWS_A_MS = 10
_DISORDER_MS = 2000


def lay_out(folder: Path, rows: int) -> None:
    """Writes the rows to a few files, and the row that closes all windows to one of its own.

    Spark takes files in the order of their times, so those are set.
    """
    folder.mkdir(parents=True)
    chance = random.Random(7)
    currencies = list(RATES)
    notes = [
        f"order note {number:03d} {''.join(chance.choices('abcdefghij ', k=20))}" for number in range(256)
    ]
    for file in range(FILES):
        first, end = rows * file // FILES, rows * (file + 1) // FILES
        path = folder / f"part-{file:04d}.json"
        with path.open("w", encoding="ascii") as out:
            for row in range(first, end):
                r = chance.random
                out.write(
                    f'{{"id":{row},"customer":"c{int(r() * 5000):04d}","merchant":"m{int(r() * 200):03d}",'
                    f'"amount":{0.01 + int(r() * 10000) / 100:.2f},'
                    f'"ms":{BASE_MS + int(row / _ROWS_A_MS + _DISORDER_MS * (1 - r()))},'
                    f'"currency":"{currencies[int(r() * 8)]}","note":"{notes[int(r() * 256)]}"}}\n'
                )
        os.utime(path, (BASE_MS // 1000 + file, BASE_MS // 1000 + file))
    last = folder / "part-9999.json"
    last.write_text(
        f'{{"id":{rows},"customer":"c0000","merchant":"m000","amount":60.00,"ms":{FAR_MS},'
        '"currency":"USD","note":"closing row"}\n',
        encoding="ascii",
    )
    os.utime(last, (BASE_MS // 1000 + FILES, BASE_MS // 1000 + FILES))
