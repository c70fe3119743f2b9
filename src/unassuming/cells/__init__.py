"""One number at a time: exact intervals and tests of a coefficient (docs/theory.md 11).

The rows are divided into cells by looking at the design only (`division`, `choose`). Least squares
in each cell estimates the number with its own nuisance coefficients (`estimates`). Under symmetric
noise the sign of the error of each cell is random. This makes the rank of a statistic uniform and
gives an interval in closed form (`theorem`, with the signs of `codes`). Exchangeable noise becomes
symmetric in differences of `pairs`. Where cells identify too little, halves of the rows and
permutations give intervals with certified coverage (`tournament`). `several`, `balanced` and
`functions` serve many numbers, bands and functions of bounded norm; `instruments` serves a column
that depends on the noise.

Plain arrays go in and come out. Nothing here sees y before the division is fixed, and nothing is
drawn.
"""
