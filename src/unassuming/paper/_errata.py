"""What the article says and does not hold, in the words of the captions and tables."""

REVERSED = (
    "Erratum 1: the article counts in the rank of Z_0 the Z_i that come after it. That region "
    "would leave out the estimate and hold everything far away. Levels here count the Z_i before "
    "Z_0, as its proof does."
)
"""Concerns every level, so every figure."""

NO_GUARANTEE = (
    "Erratum 2: given the inputs, slacks of labels are not symmetric, so this region, drawn as "
    "published, carries no coverage guarantee. Without regard to the inputs slacks are symmetric "
    "for w = (2, 2)."
)

SKEWED = (
    "Erratum 3: centred binomial noise with p = 0.0528 is skewed, so sign changes are not exact "
    "for it."
)

UNBOUNDED = (
    "The article takes regions such as those of KRR to be bounded. With a full-rank kernel and "
    "sign changes regions have no end at the levels that the table names; pictures show the part "
    "that random coefficients reach."
)
