"""The error that the Spark side raises when the machine, not the pipeline, is at fault."""

from __future__ import annotations


class EnvironmentProblem(Exception):
    """Something outside the project keeps Spark from running.

    The command line turns it into a diagnostic, so it carries that diagnostic's parts.
    """

    def __init__(self, code: str, message: str, cause: str, fix: str) -> None:
        """Make the error.

        Args:
            code: HR601 no usable Java, HR602 packages could not be fetched, HR603 JVM did not start,
                HR611 cluster does not take the run.
            message: What went wrong, in one sentence.
            cause: What was seen: versions, exit codes, the tail of a log.
            fix: What the user can do about it.
        """
        # The parts are the exception's args, so it survives pickling to another process.
        super().__init__(code, message, cause, fix)
        self.code = code
        self.message = message
        self.cause = cause
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.code}: {self.message}\n{self.cause}\n{self.fix}"
