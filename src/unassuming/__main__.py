"""``python -m unassuming`` is the command ``unassuming``."""

from unassuming.cli import main

if __name__ == "__main__":
    main()
