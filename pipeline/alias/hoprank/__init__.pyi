"""The public names of ``pipeline``, for type checkers."""

from pipeline import *  # noqa: F403 - a list here would be a second one

def main() -> None: ...
