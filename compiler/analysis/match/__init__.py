"""MATCH_RECOGNIZE: from its clauses, in SQL or as a YAML step, to the operator.

`binder` types the expressions of DEFINE and MEASURES, `terms` takes apart what concerns one row (Spark
computes it) and what looks across rows (the matcher does), `build` puts the operator together.
"""
