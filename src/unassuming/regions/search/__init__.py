"""Searches for members of a region along its lines."""
