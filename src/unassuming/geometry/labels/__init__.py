"""Regions of labels: lines and boxes."""
