"""Servers for tests, examples and benchmarks, started without root from packages of the registries."""
