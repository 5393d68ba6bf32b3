"""What users test their pipelines with."""

from runtime.testing.aggregate import aggregate
from runtime.testing.process import ProcessTester

__all__ = ["ProcessTester", "aggregate"]
