"""The plans that a state root keeps, with what they need to run again: seeds, not secrets."""

from __future__ import annotations

import codecs
import hashlib
from pathlib import Path

from compiler.diagnostics.codes import FUNCTION_TARGET, MISSING_PATH, SEED_CONTENT, STATE_BROKEN
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.codec import PlanFormatError, plan_from_json, to_json
from compiler.jobplan.model import FunctionFile, JobPlan, Seed
from runtime.files import write_atomically
from runtime.state.root import StateRoot


def keep_plan(root: StateRoot, plan: JobPlan, project_dir: Path) -> str:
    """Writes a plan, its seeds and functions into the state root, if not there, and gives its sha256.

    Raises:
        DiagnosticError: a seed or a function is missing, or is not the one that was compiled.
    """
    text = to_json(plan)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    folder = root.plan_folder(sha256)
    (folder / "seeds").mkdir(parents=True, exist_ok=True)
    for query in plan.queries:
        for op in query.operators:
            if isinstance(op, Seed) and not (folder / "seeds" / f"{op.sha256}.csv").exists():
                write_atomically(folder / "seeds" / f"{op.sha256}.csv", _seed(op, project_dir))
    for file in plan.functions.files if plan.functions is not None else ():
        if not (folder / "functions" / file.path).exists():
            (folder / "functions" / file.path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / "functions" / file.path, _function(file, project_dir))
    # Last, so that a plan that is there has all that it needs.
    if not (folder / "plan.json").exists():
        write_atomically(folder / "plan.json", text)
    return sha256


def load_plan(root: StateRoot, sha256: str) -> JobPlan:
    """A plan that was kept.

    Raises:
        DiagnosticError: it is gone, damaged, or of a version that this headrace does not read.
    """
    file = root.plan_folder(sha256) / "plan.json"
    try:
        return plan_from_json(file.read_text())
    except (OSError, UnicodeDecodeError, PlanFormatError) as error:
        raise DiagnosticError(
            Diagnostic(
                STATE_BROKEN,
                f"plan {file} cannot be read",
                cause=f"it began an epoch that it has to finish: {str(error).splitlines()[0]}",
                fix="finish the epoch with the version of headrace that began it, bring the file back from a "
                "copy, or run with --full-refresh, which starts over",
            )
        ) from error


def _function(file: FunctionFile, project_dir: Path) -> bytes:
    path = project_dir / "functions" / file.path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DiagnosticError(
            Diagnostic(MISSING_PATH, f"functions/{file.path} cannot be read", cause=error.strerror)
        ) from error
    if hashlib.sha256(content.removeprefix(codecs.BOM_UTF8)).hexdigest() != file.sha256:
        raise DiagnosticError(
            Diagnostic(
                FUNCTION_TARGET,
                f"functions/{file.path} has changed since the plan was compiled",
                fix="compile again",
            )
        )
    return content


def _seed(op: Seed, project_dir: Path) -> bytes:
    file = project_dir / op.path
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DiagnosticError(
            Diagnostic(MISSING_PATH, f"seed {op.path} cannot be read", cause=error.strerror)
        ) from error
    if hashlib.sha256(content).hexdigest() != op.sha256:
        raise DiagnosticError(
            Diagnostic(
                SEED_CONTENT, f"seed {op.path} has changed since the plan was compiled", fix="compile again"
            )
        )
    return content
