"""The program ``autoactivator``, which comes with the package; ``python -m autoactivator`` is the same."""

import sys

from autoactivator._core import program


def main() -> None:
    """Runs the command that was typed."""
    program(["autoactivator", *sys.argv[1:]])


if __name__ == "__main__":
    main()
