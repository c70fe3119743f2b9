"""An adversary: bad scales on purpose, and exact rationals to compare with."""
