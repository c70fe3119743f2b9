"""One number at a time: exact intervals and tests of a coefficient (docs/theory.md 11).

The rows are divided into cells by looking at the design only (`division`). Least squares in each
cell estimates the number (`estimates`). Under symmetric noise the sign of its error is random: the
rank of a statistic is uniform, which gives an interval in closed form (`theorem`). Where
cells identify too little, halves and permutations have certified coverage (`tournament`). Plain
arrays go in and come out. Nothing sees y before the division is fixed, and nothing is drawn.
"""
