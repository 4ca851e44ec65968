"""Questions to workers, as the driver writes them (operator/distributed/messages.rs, in postcard), to time each alone."""

import struct

#: A question that asks for nothing: copies of no columns.
NOTHING = bytes([6, 0])
#: How a reply begins that says that a question could not be answered.
FAILED = 3


def _whole(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _numbers(values):
    data = values.astype("<f8").tobytes()
    return _whole(len(data)) + data


def _vectors(vectors):
    return _whole(len(vectors)) + b"".join(map(_numbers, vectors))


def first_read(weights, residual, columns):
    """A first read, with moments and the first pass."""
    return bytes([0, 1]) + _numbers(weights) + _numbers(residual) + struct.pack("<d", 1e-12) + _whole(columns)


def full_pass(residuals):
    """A pass for some residuals together."""
    return bytes([1]) + _vectors(residuals)


def products_with_none(residuals):
    """Products of no columns: so many numbers go out, and none comes back."""
    return bytes([2]) + _vectors(residuals) + _whole(0)


def partial_pass(residuals):
    """The same over some of the rows."""
    return bytes([3]) + _vectors(residuals)


def cross_products(weights, target):
    """Cross-products of all columns and the target, of all rows together."""
    return bytes([10]) + _numbers(weights) + _numbers(target) + _whole(len(target)) + bytes(len(target)) + _whole(1)


def copies_of(columns):
    """Copies of columns."""
    return bytes([6]) + _whole(len(columns)) + b"".join(map(_whole, columns))
