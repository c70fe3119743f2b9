"""For programs that tests start: how much memory they have taken at most."""

from pathlib import Path


def peak_memory():
    """Return bytes. On Linux ru_maxrss outlives exec and would be the test process's own."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
