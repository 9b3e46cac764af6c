"""`colrun`, and `python -m colrun`."""

import signal


def run() -> None:
    """The command as a process of its own.

    Commands answer Ctrl-C while they work. Before and after, while modules are loaded and Python ends, it ends the
    process at once, as any program's, instead of with a traceback of whatever was going on.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it may be ignored, as in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from colrun.cli import main

    main(prog_name="colrun")


if __name__ == "__main__":
    run()
