"""Functions that users write in Python: what they import, how they are loaded and run.

`api` is what a file under functions/ imports (as `headrace`), `engine` runs a process function key by key
without knowing of Spark, `operator` puts it on the state by bucket, `bundle` brings the files to where they
run, `scalars` registers functions that are called in expressions.
"""
