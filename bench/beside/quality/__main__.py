"""The cases of one group, in a process of its own: python -m beside.quality NAME FILE.

The file is written after every case, so that a process that is ended leaves what it has.
"""

import json
import os
import sys
import time
import traceback
import warnings

from beside.quality import Unavailable, named


def main():
    name, file = sys.argv[1:]
    group, cases = named(name), {}
    # A cap or a separation is a status here, and told by the rows that ask for it.
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    try:
        for case, run in group.cases():
            told = measured(run)
            if told is None:
                continue
            cases[case] = told
            said = " ".join(f"{key} {short(value)}" for key, value in told.items() if not isinstance(value, list))
            print(f"  {case}: {said}", file=sys.stderr, flush=True)
            write(file, {"cases": cases, "seconds": time.perf_counter() - start})
    except Unavailable as reason:
        write(file, {"cases": cases, "missing": str(reason), "seconds": 0.0})


def measured(run):
    """What a case tells, or None where its data are not there; one that fails does not end the others."""
    try:
        return run()
    except Unavailable as reason:
        return print(f"  left out: {reason}", file=sys.stderr, flush=True)
    except Exception as error:
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:300]}


def short(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write(file, told):
    with open(f"{file}.part", "w") as part:
        json.dump(told, part, indent=1)
    os.replace(f"{file}.part", file)


if __name__ == "__main__":
    main()
