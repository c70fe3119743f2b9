"""How fast the library is, against plain formulas, solvers and other methods.

Run everything with ``make bench``, or some subjects with ``python -m benchmarks ranks bands``.
Ratios are measured in one run, in one process for each case, on one thread.

To add a case: a function in the file of its subject that returns a `benchmarks.result.Result`, and
an entry in that file's ``CASES``. To add a subject: a file with ``TITLE`` and ``CASES``, and its
name in ``benchmarks.__main__.SUBJECTS``.
"""
