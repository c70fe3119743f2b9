import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conventions import follows
from unassuming.models import LSSVC, KernelHuber, KernelLasso

INDEFINITE = (
    "the check changes a Gram matrix entry by entry, which makes it indefinite; "
    "a model that needs a positive semidefinite kernel must refuse it"
)


def expected_failures(model):
    if model.kernel == "precomputed" and not isinstance(model, KernelLasso):
        return {
            "check_positive_only_tag_during_fit": INDEFINITE,
            "check_estimators_dtypes": INDEFINITE,
        }
    return {}


def checks(*kernels):
    models = [
        model
        for kernel in kernels
        for model in (
            KernelLasso(kernel=kernel),
            KernelHuber(kernel=kernel),
            LSSVC(kernel=kernel),
            LSSVC(kernel=kernel, fit_intercept=False),
        )
    ]
    return parametrize_with_checks(models, expected_failed_checks=expected_failures)


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@pytest.mark.slow_but_first
@checks("rbf")
def test_scikit_learn_conventions(estimator, check):
    follows(estimator, check)


@pytest.mark.slow
@checks("linear", "precomputed")
def test_scikit_learn_conventions_with_other_kernels(estimator, check):
    follows(estimator, check)
