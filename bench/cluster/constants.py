"""What questions cost on a cluster, each asked alone."""

from typing import NamedTuple

import messages
import numpy as np
from machines import median_of

#: Questions that go by the scheduler; the others go to actors.
TASKS = ("read", "pass", "partial-pass", "cross-products")
#: Bytes of a large message.
LARGE = 16_000_000


class Route(NamedTuple):
    """Seconds of a round trip that asks for nothing, and bytes per second to all workers together and back."""

    latency: float
    out: float
    back: float


def _answered(held, what, asked, tasks):
    """One round trip; the workers must be able to answer, and do so each time."""
    held._products = None
    replies = held.ask(what, asked, tasks)
    if any(reply[0] == messages.FAILED for reply in replies):
        raise RuntimeError(f"a worker could not answer: {bytes(replies[0][1:200])!r}; was each block read?")


def _one_of_each(held):
    return [min(shard.about) for shard in held._shards]


def latencies(held, repeats=40):
    """Seconds of a round trip to every worker, by task and by actor."""
    tasks = [(block, 0) for block in _one_of_each(held)]
    return {what: median_of(repeats, _answered, held, what, [messages.NOTHING], tasks) for what in ("pass", "columns")}


def routes(held, repeats=7):
    """Both ways of a message, to all workers at once and back: some serialise while others send."""
    blocks, across = _one_of_each(held), held._grid[1]
    rows = [held.row_lengths[block // across] for block in blocks]
    share = LARGE // len(blocks)
    out = [messages.products_with_none([np.ones(own)] * max(1, share // (8 * own))) for own in rows]
    listed = [
        range(min(held.column_lengths[block % across], max(1, share // (4 * own)))) for block, own in zip(blocks, rows)
    ]
    back, size = [messages.copies_of(own) for own in listed], sum(4 * n * len(own) for n, own in zip(rows, listed))
    latency, tasks = latencies(held), [(block, at) for at, block in enumerate(blocks)]

    def rate(what, asked, size):
        spent = median_of(repeats, _answered, held, what, asked, tasks)
        return size / max(spent - latency[what], 1e-6)

    found = {
        what: Route(latency[what], rate(what, out, sum(map(len, out))), rate(what, back, size)) for what in latency
    }
    return {"task": found["pass"], "actor": found["columns"]}


def _questions(what, row_lengths, columns, residuals):
    """A question that makes workers go through their data, for each range of rows."""
    # Each its own: a worker knows the product with the residual of its first read.
    rng = np.random.default_rng([3, TASKS.index(what)])
    rows = sum(row_lengths)

    def question(length):
        drawn = [rng.standard_normal(length) for _ in range(residuals)]
        match what:
            case "read":
                return messages.first_read(np.full(length, 1 / rows), drawn[0], columns)
            case "pass":
                return messages.full_pass(drawn)
            case "partial-pass":
                return messages.partial_pass(drawn)
            case "cross-products":
                return messages.cross_products(np.full(length, 1 / rows), drawn[0])

    return [question(length) for length in row_lengths]


def swept_by_workers(held, by, asked, repeats=3):
    """Seconds that workers go through their data for a question, without the way there and back. `asked` are the questions,
    and the residuals in each."""
    tasks, spent = [(block, block // held._grid[1]) for block in range(len(held._sources))], {}
    for what, residuals in asked.items():
        questions = _questions(what, held.row_lengths, held.shape[1], residuals)
        before = held.bytes_sent, held.bytes_received
        whole = median_of(repeats, _answered, held, what, questions, tasks)
        out, back = ((now - then) / repeats for now, then in zip((held.bytes_sent, held.bytes_received), before))
        spent[what] = max(whole - by["task"].latency - out / by["task"].out - back / by["task"].back, 1e-6)
    return spent
