"""Speed of the library compared with plain formulas, solvers and other methods.

Run all benchmarks with ``make bench``, or some subjects with ``python -m benchmarks ranks bands``.
Each case runs in its own process, and its ratios are measured in one run. It uses one thread unless
its subject sets ``ALL_CORES``.

To add a case, write a function in the file of its subject that returns a
`benchmarks.result.Result`, and add it to ``CASES`` there. To add a subject, write a file with
``TITLE`` and ``CASES``, and add its name to ``benchmarks.__main__.SUBJECTS``.
"""
