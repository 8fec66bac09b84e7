"""``python -m trainmark`` is the command ``trainmark``."""

from trainmark.cli.main import main

if __name__ == "__main__":
    main()
