"""Geometry of regions: lines, ellipsoids, boxes."""
