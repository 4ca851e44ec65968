"""How much memory this process takes, and the machine has: megabytes."""

import re
import resource


def _status(name):
    with open("/proc/self/status") as file:
        return int(re.search(rf"{name}:\s+(\d+) kB", file.read()).group(1)) / 1000


def resident():
    return _status("VmRSS")


def forget_peak():
    """Start the high-water mark anew. Where that is not allowed, the peak includes what was before."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def peak():
    try:
        return _status("VmHWM")
    except (OSError, AttributeError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def available():
    """What the machine can still give."""
    with open("/proc/meminfo") as file:
        return int(re.search(r"MemAvailable:\s+(\d+) kB", file.read()).group(1)) / 1000
