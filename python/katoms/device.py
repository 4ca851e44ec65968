"""Graphics cards: whether there is one that ``device="cuda"`` works on."""

from __future__ import annotations

from katoms import _katoms
from katoms.exceptions import DeviceError

__all__ = ["available"]


def available() -> bool:
    """Whether there is an NVIDIA driver with a card. What is wrong where there is none, ``device="cuda"`` says.

    Examples
    --------
    >>> from katoms import SparseRegressor, device
    >>> model = SparseRegressor(5, device="cuda" if device.available() else "cpu")
    """
    try:
        _katoms.card(None)
    except DeviceError:
        return False
    return True
