"""Python workers that come up at once, on the machine of the driver.

Spark runs `python -m MODULE` in two ways, and each process imports pandas, pyarrow and PySpark anew, which
takes over a second of CPU:

- Tasks get their workers from `pyspark.daemon`, which forks before anything is imported, so that each worker
  imports for itself.
- A query with transformWithState asks the processor for its state's variables in a process of its own on the
  driver. It has ten seconds to come up, whatever is configured, which a busy machine does not always keep.

So Spark is given a Python that is a script of ours. For these modules it has the process forked from the
`Nursery`, which has imported all of it while the JVM started; for others, and without a nursery, it is plain
Python.

Forking after these imports is sound: the threads that they start are OpenBLAS's and jemalloc's, and both
libraries, as Arrow, set themselves up again in the child. On a cluster Spark's own way stays: its machines
need not have headrace when a worker starts, and are given its code as the worker is told what to run.
"""

from runtime.spark.workers.nursery import Nursery

__all__ = ["Nursery"]
