"""Functions of bounded norm: intervals one at a time, and simultaneous bands (docs/theory.md 11.5).

A cell of rows estimates a functional of the function with kriging weights (`kriging`). The error
has a part from the noise, whose sign is random, and a bias that the norm bound limits (`errors`).
`predict` fixes the cells and the smoothing by the half-width predicted before y is seen; `theorem`
then bounds the functional.
"""
