"""What a fit costs on a cluster: python bench/cluster --help.

    pip install "katoms[dask]"
    python bench/cluster overhead      one process beside one and two workers with the same threads
    python bench/cluster larger        more data than memory: 30 GB of files, 8 GB for the workers
    python bench/cluster cost          a model of the time, and how far it is from what is measured
    python bench/cluster peers         PsFiT and dask-ml on the same blocks of rows

Data are written to a folder, target/bench/cluster unless --folder names another, and are used again where they are there.
"""

import argparse
import importlib
import os
import pathlib
import shlex
import sys

COMMANDS = ("overhead", "larger", "cost", "peers")


def main():
    parser = argparse.ArgumentParser(
        prog="bench/cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    name = next((word for word in sys.argv[1:] if word in COMMANDS), None)
    for command in COMMANDS:
        own = commands.add_parser(command, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        own.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("target/bench/cluster"))
        own.add_argument("--cores", type=int, default=os.cpu_count(), help="threads in all")
        if command == name:
            module = importlib.import_module(command)
            module.add(own)
    asked = parser.parse_args()
    asked.folder = asked.folder.resolve()
    print("python bench/cluster " + shlex.join(sys.argv[1:]))
    load = os.getloadavg()[0]
    module.run(asked)
    print(f"load of the machine before and after: {load:.1f}, {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
