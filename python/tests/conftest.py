"""What every test checks: messages speak to users of Python."""

import re

import pytest

from katoms import exceptions

#: Names of the library in Rust, options of the program, and what the library calls what Python calls otherwise.
FOREIGN = re.compile(
    r"(?<!plink )--[a-z]|::|\boption\b|\bridges?\b|\btolerance\b|\bdesign\b|\b(target|labels) (holds|has)\b|\bthe rank\b"
    r"|\bk is\b|\bfolds is\b|\bthe cap\b|\bseconds is\b|\bsample weights\b|\b(OverlappingGroups|DoubleOverrelaxation|Fista)\b"
)


@pytest.fixture(autouse=True)
def messages_in_the_names_of_python(monkeypatch):
    foreign = []

    def noted(error, *words):
        ValueError.__init__(error, *words)
        foreign.extend(str(word) for word in words if FOREIGN.search(str(word)))

    monkeypatch.setattr(exceptions.KatomsError, "__init__", noted)
    yield
    assert not foreign
