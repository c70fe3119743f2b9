"""Errors of the article, as the captions and tables state them."""

REVERSED = (
    "Erratum 1: in the rank of Z_0 the article counts the Z_i that come after it. That region "
    "would exclude the estimate and contain everything far away. Levels here count the Z_i before "
    "Z_0, as in the proof."
)
"""Concerns every level, and so every figure."""

NO_GUARANTEE = (
    "Erratum 2: given the inputs, slacks of labels are not symmetric, so this region, drawn as "
    "published, carries no coverage guarantee. Marginally, slacks are symmetric for w = (2, 2)."
)

SKEWED = (
    "Erratum 3: centred binomial noise with p = 0.0528 is skewed, so sign changes are not exact."
)

UNBOUNDED = (
    "The article assumes that regions such as those of KRR are bounded. With a full-rank kernel "
    "and sign changes they are unbounded at the levels given in the table; pictures show the part "
    "that random coefficients reach."
)
