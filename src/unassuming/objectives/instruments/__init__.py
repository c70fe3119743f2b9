"""A linear equation with instruments: moments of the residuals with exogenous columns."""

from unassuming.objectives.instruments._objective import (
    InstrumentObjective as InstrumentObjective,
)
from unassuming.objectives.instruments._objective import (
    from_instrumental_regression as from_instrumental_regression,
)
