"""`python -m colrun`."""

from colrun.cli import main

if __name__ == "__main__":
    main(prog_name="colrun")
