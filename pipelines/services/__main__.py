"""Starts and stops servers: `python -m pipelines.services start|stop|status [kafka postgres]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipelines.services.base import Service, ServiceError
from pipelines.services.kafka import KAFKA
from pipelines.services.postgres import POSTGRES

# To add one: one file, one line here.
SERVICES: tuple[Service, ...] = (KAFKA, POSTGRES)

FOLDER = Path(".headrace/services")


def main(arguments: list[str] | None = None) -> int:
    """Does what the command line asks for.

    Args:
        arguments: the command line without the program, that of the process if None.

    Returns:
        The exit code: 0, or 1 if a server could not be started.
    """
    known = {service.name: service for service in SERVICES}
    parser = argparse.ArgumentParser(prog="python -m pipelines.services", description=__doc__)
    parser.add_argument("command", choices=("start", "stop", "status"))
    parser.add_argument("services", nargs="*", metavar="SERVICE", help=f"of {', '.join(known)}; all if none")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where their data are (%(default)s)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.services) - set(known))
    if unknown:
        parser.error(f"unknown service {unknown[0]}; services are {', '.join(known)}")
    for name in options.services or known:
        try:
            print(f"{name}: {_do(options.command, known[name], options.folder.absolute() / name)}")
        except ServiceError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    return 0


def _do(command: str, service: Service, folder: Path) -> str:
    if command == "start":
        return service.start(folder)
    if command == "stop":
        return "stopped" if service.stop(folder) else "was not running"
    return service.address(folder) or "not running"


if __name__ == "__main__":
    sys.exit(main())
