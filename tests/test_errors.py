import pytest

from unassuming._errors import NotAvailable, complaint


def test_complaint_is_the_documented_sentence():
    message = complaint(
        "sample_weight",
        "has a negative entry",
        "weights >= 0 with at least one positive",
        "-1.0 at row 3",
        "Drop the row or set its weight to zero.",
    )
    assert message == (
        "sample_weight has a negative entry: expected weights >= 0 with at least one positive, "
        "given -1.0 at row 3. Drop the row or set its weight to zero."
    )


def test_not_available_is_not_mistaken_for_a_missing_attribute_or_method():
    # hasattr swallows AttributeError, and NotImplementedError says "not written yet"
    assert issubclass(NotAvailable, RuntimeError)
    assert not issubclass(NotAvailable, (AttributeError, NotImplementedError))
    with pytest.raises(NotAvailable, match="needs a norm bound"):
        raise NotAvailable("this band needs a norm bound: pass norm_bound=30.")
