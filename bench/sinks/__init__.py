"""Sinks beside what one would write by hand for the same rows, in the same session.

python -m bench.sinks [--rows 1000000] [--rounds 5] [--only postgres,files]
"""
