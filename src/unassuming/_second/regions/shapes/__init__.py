"""The shapes of regions: closed forms where there are some."""
