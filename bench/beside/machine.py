"""The machine and the packages of a run, for the head of the results."""

import importlib.metadata
import os
import platform
import re

#: Distributions whose versions are told.
PACKAGES = ["katoms", "abess", "skscope", "scikit-learn", "celer", "skglm", "adelie", "numpy", "scipy", "numba", "jax"]


def told(threads):
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "threads": threads,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {name: version(name) for name in PACKAGES},
    }


def in_words(told):
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items() if version)
    return (
        f"{told['cpu']}, {told['cores']} cores, {told['memory_gb']} GB; "
        f"{told['threads']} threads for every contestant. {told['system']}, Python {told['python']}, {versions}."
    )


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return re.search(r"model name\s*:\s*(.+)", file.read()).group(1).strip()
    except (OSError, AttributeError):
        return platform.processor() or "unknown"


def environment(threads):
    """The environment of a contestant: the same threads for every library."""
    names = ["OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "NUMEXPR", "VECLIB_MAXIMUM"]
    told = {f"{name}_NUM_THREADS": str(threads) for name in names}
    told["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    told["JAX_PLATFORMS"] = "cpu"
    return {**os.environ, **told}
