"""One number at a time: the public side of `unassuming.cells` (docs/theory.md 11)."""
