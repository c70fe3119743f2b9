"""Searches for members of a region: random walks, hill climbing, rays."""
