"""Regions: exact answers from ranks, and the geometry of their shapes."""
