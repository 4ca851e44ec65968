"""Real data, where they are there: a folder in ``KATOMS_DATA``, or ``shared/data`` beside the checkout."""

import os
import pathlib

BESIDE = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


def file(name):
    return pathlib.Path(os.environ.get("KATOMS_DATA", BESIDE)) / name


def missing(name):
    """Why a row cannot be run, or None."""
    if file(name).exists():
        return None
    return f"there is no {name} in the folder that KATOMS_DATA names, nor in ../shared/data"
