"""The command ``katoms``."""

import sys

from katoms._katoms import main as _main


def main() -> None:
    """Run the program with the arguments of the command line."""
    worker = [sys.executable, "-m", "katoms", "worker"] if sys.executable else []
    sys.exit(_main(["katoms", *sys.argv[1:]], worker))


if __name__ == "__main__":
    main()
