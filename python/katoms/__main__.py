"""The command ``katoms``."""

import sys

from katoms._katoms import main as _main


def main() -> None:
    """Run the program with the arguments of the command line."""
    sys.exit(_main(["katoms", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
