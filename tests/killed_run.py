"""Runs a plan in a process of its own, which kills itself and its JVM after some epochs.

Usage: killed_run.py PROJECT PLAN ON_END EPOCHS
"""

from __future__ import annotations

import sys
from pathlib import Path

from killable import die, open_killable_session

from compiler.jobplan.codec import plan_from_json
from runtime.jobs.events import EpochCompleted, Event
from runtime.jobs.runner import run


def main() -> None:
    project, plan, on_end, epochs = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    seen = 0

    def count(event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, EpochCompleted)
        if seen >= epochs:
            die()

    job = plan_from_json(plan.read_text(encoding="utf-8"))
    report = run(
        job,
        project,
        session=open_killable_session(job, project),
        on_end="close" if on_end == "close" else "leave_open",
        events=count,
    )
    for failure in report.failures:
        sys.stderr.write(f"{failure.message} ({failure.cause})\n")
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
