"""Start the command line; interrupts are handled before anything large is imported."""

from __future__ import annotations

from fastfair.cli.interrupts import end_at_once


def main() -> None:
    """Run the command line."""
    end_at_once()
    from fastfair.cli import main as cli

    cli.main()


if __name__ == "__main__":
    main()
