"""``python -m solvent`` is the command ``solvent``."""

from solvent.cli import main

if __name__ == "__main__":
    main()
