"""Losses with kinks: breakpoints, pieces, lines, and a relaxation (docs/theory.md 7)."""
