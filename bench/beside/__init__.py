"""katoms beside its peers: the same arrays, the same threads, one run.

``python -m beside`` from the folder ``bench`` (``make bench`` from the root) runs every row of every work and writes
``bench/RESULTS.md``. ``bench/README.md`` says how to read it.
"""
