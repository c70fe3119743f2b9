"""One number at a time: the public side of `unassuming.cells` (docs/theory.md 9)."""

from unassuming.cells.functions import Wanted as Wanted
from unassuming.regions.single._at_once import all_at_once as all_at_once
from unassuming.regions.single._at_once import cells_for_functionals as cells_for_functionals
from unassuming.regions.single._at_once import cells_for_model_error as cells_for_model_error
from unassuming.regions.single._at_once import check_at_once as check_at_once
from unassuming.regions.single._at_once import division_for as division_for
from unassuming.regions.single._at_once import function_cells as function_cells
from unassuming.regions.single._at_once import simultaneous_summary as simultaneous_summary
from unassuming.regions.single._function_bands import values_at_once as values_at_once
from unassuming.regions.single._functions import Assumption as Assumption
from unassuming.regions.single._functions import Functions as Functions
from unassuming.regions.single._functions import functional_rows as functional_rows
from unassuming.regions.single._hypotheses import FTest as FTest
from unassuming.regions.single._hypotheses import hypothesis_test as hypothesis_test
from unassuming.regions.single._numbers import Numbers as Numbers
from unassuming.regions.single._replies import at_each as at_each
from unassuming.regions.single._replies import check_level as check_level
from unassuming.regions.single._replies import one_by_one as one_by_one
from unassuming.regions.single._replies import options_for as options_for
from unassuming.regions.single._replies import require_alone as require_alone
from unassuming.regions.single._replies import summary_of as summary_of
from unassuming.regions.single._summary import Summary as Summary
from unassuming.regions.single._values import function_options as function_options
from unassuming.regions.single._values import function_test as function_test
from unassuming.regions.single._values import values_one_by_one as values_one_by_one
