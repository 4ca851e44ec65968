"""The works, each a module with TITLE, ROWS, CONTESTANTS, and functions to draw, load and score."""

import importlib

NAMES = ["least_squares", "path", "cross_validation", "classes", "groups", "sparse_design", "genotypes"]
NAMES += ["completion", "lasso"]


def named(name):
    return importlib.import_module(f"beside.works.{name}")
