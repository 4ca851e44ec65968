"""A fit of genotypes as PLINK stores them, 2 bits each, beside the same numbers as a NumPy array of bytes.

    cargo build --release -p katoms-cli --no-default-features && pip install numpy
    python bench/plink.py FOLDER [--rows 2000] [--columns 100000] [--atoms 50] [--missing 0.02] [--rounds 7]

Writes FOLDER/cohort.bed, .bim and .fam, and FOLDER/cohort.npy, an int8 array in column order: the same genotypes, with
neighbours correlated in blocks of twenty and half of the target's variance noise. Then `katoms fit` runs on either file
in turn, round after round, since other work on the machine changes the time of both; on one thread and on two. Printed
are medians: seconds of the fit, seconds of the whole command, passes over the data and how often these read all of it,
peak memory, and whether both chose the same variants. With --missing, that share of the genotypes is missing in the .bed
file, and the two fits are of different data.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

import numpy as np

#: Neighbours that are inherited together, and the correlation of what lies behind two next to each other.
BLOCK, LINKED = 20, 0.8
#: The code of two, one and no copies of the first allele; 1 is missing.
CODES = np.array([3, 2, 0], np.uint8)
MISSING = 1


def copies(rng, rows):
    """A block of variants: how many copies of the first allele each individual has."""
    latent = rng.standard_normal((2, rows, BLOCK), dtype=np.float32)
    for j in range(1, BLOCK):
        latent[..., j] = LINKED * latent[..., j - 1] + np.sqrt(1 - LINKED**2) * latent[..., j]
    least = np.sort(latent[..., 0].ravel())[(2 * rows * (1 - rng.uniform(0.05, 0.5, BLOCK))).astype(int)]
    return (latent > least).sum(axis=0).astype(np.int8)


def packed(block, missing):
    """Its bytes in a .bed file: four individuals in each, the first in the lowest bits."""
    codes = CODES[block.T]
    codes[missing.T] = MISSING
    codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 4))).reshape(len(codes), -1, 4)
    return codes[..., 0] | codes[..., 1] << 2 | codes[..., 2] << 4 | codes[..., 3] << 6


def write(folder, asked):
    """The files of a cohort."""
    rng = np.random.default_rng([asked.rows, asked.columns])
    columns = asked.columns // BLOCK * BLOCK
    effects = dict(zip(rng.choice(columns, asked.atoms, replace=False).tolist(), rng.choice([-1.0, 1.0], asked.atoms)))
    clean = np.zeros(asked.rows)
    array = np.lib.format.open_memmap(folder / "cohort.npy", "w+", "i1", (asked.rows, columns), fortran_order=True)
    with open(folder / "cohort.bed", "wb") as bed:
        bed.write(b"\x6c\x1b\x01")
        for first in range(0, columns, BLOCK):
            block = copies(rng, asked.rows)
            array[:, first : first + BLOCK] = block
            bed.write(packed(block, rng.random(block.shape) < asked.missing).tobytes())
            for j in range(BLOCK):
                if first + j in effects:
                    clean += effects[first + j] * (block[:, j] - block[:, j].mean()) / block[:, j].std()
    array.flush()
    y = clean + clean.std() * rng.standard_normal(asked.rows)
    np.save(folder / "y.npy", y)
    with open(folder / "cohort.bim", "w") as bim:
        bim.writelines(f"1\tx{j + 1}\t0\t{j + 1}\tA\tG\n" for j in range(columns))
    with open(folder / "cohort.fam", "w") as fam:
        fam.writelines(f"{i + 1}\t1\t0\t0\t0\t{v!r}\n" for i, v in enumerate(y.tolist()))


def fitted(asked, threads, file):
    """What a fit prints, the seconds of the command and its peak memory in bytes."""
    command = [asked.program, "fit", file, "-k", asked.atoms, "--json", "--target", asked.folder / "y.npy"]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    clock = time.perf_counter()
    process = subprocess.Popen(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    printed = process.stdout.read()
    _, code, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - clock
    if code != 0:
        raise SystemExit(f"katoms fit {file} ended with {os.waitstatus_to_exitcode(code)}")
    return json.loads(printed), seconds, used.ru_maxrss * 1024


def compare(asked, threads):
    """Both files on so many threads, in turn."""
    runs = {"bed": [], "npy": []}
    for _ in range(asked.rounds):
        for kind, found in runs.items():
            found.append(fitted(asked, threads, asked.folder / f"cohort.{kind}"))
    seconds, chosen = {}, {}
    for kind, found in runs.items():
        fits, commands, memory = zip(*((output["run"]["seconds"], command, peak) for output, command, peak in found))
        seconds[kind] = [statistics.median(fits), statistics.median(commands)]
        run, model = found[0][0]["run"], found[0][0]["model"]
        chosen[kind] = [c["column"] for c in model["coefficients"]]
        print(
            f"{threads} thread(s), {kind}: fit {1e3 * seconds[kind][0]:.1f} ms, command {1e3 * seconds[kind][1]:.0f} ms, "
            f"{run['passes']} passes, {run['reads']:.2f} reads, {statistics.median(memory) / 1e6:.0f} MB, "
            f"objective {model['objective']!r}"
        )
    fit, command = (bed / npy for bed, npy in zip(seconds["bed"], seconds["npy"]))
    same = "the same variants" if chosen["bed"] == chosen["npy"] else "OTHER variants"
    print(f"{threads} thread(s), bed over npy: fit {fit:.2f}, command {command:.2f}; {same}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--atoms", type=int, default=50)
    parser.add_argument("--missing", type=float, default=0.0, help="the share of missing genotypes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--program", default="target/release/katoms")
    parser.add_argument("--reuse", action="store_true", help="takes the files that are there")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if not asked.reuse:
        write(asked.folder, asked)
    for threads in (1, 2):
        compare(asked, threads)


if __name__ == "__main__":
    main()
