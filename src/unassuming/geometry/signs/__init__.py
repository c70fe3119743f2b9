"""Regression quantiles: lines and boxes (docs/theory.md 13)."""
