"""Simulations behind statements of the documentation; each module writes a table beside itself."""
