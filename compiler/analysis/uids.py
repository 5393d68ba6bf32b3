"""The names under which state, ledgers and transactions are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.analysis.model_options import ModelOptions
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Text


@dataclass
class Uids:
    """Gives each source, model and sink its uid: that of its options, else its name.

    A name may change, a uid may not: two of one uid would take each other's state for their own.
    """

    _taken: list[tuple[str, Span, bool]] = field(default_factory=list)

    def of(self, name: Text, options: ModelOptions) -> str:
        """The uid of a declaration."""
        if options.uid is None:
            self._taken.append((name.value, name.span, False))
            return name.value
        self._taken.append((options.uid.value, options.uid.place, True))
        return options.uid.value

    def check(self, reporter: Reporter) -> None:
        """HR203 for each uid that is taken already; two declarations of one name have been told elsewhere."""
        first: dict[str, tuple[Span, bool]] = {}
        # Names first: they were there before somebody chose a uid.
        for uid, place, chosen in sorted(self._taken, key=lambda taken: taken[2]):
            other = first.setdefault(uid.lower(), (place, chosen))
            if other[0] is not place and chosen:
                what = "is the uid of something else" if other[1] else "is the name of something else"
                reporter.add(
                    Diagnostic(
                        codes.DUPLICATE_NAME,
                        f"uid `{uid}` {what}",
                        place,
                        cause="state is kept by uid: the two would take each other's for their own",
                        fix="choose another, or give the other one a uid of its own",
                        related=(Label(other[0], "taken here"),),
                    )
                )
