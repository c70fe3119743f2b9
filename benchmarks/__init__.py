"""How fast ranks are computed, against the formula as one would write it down.

Run it with ``make bench``, or with ``python -m benchmarks``.
"""
