"""Positions of the moon."""


class MoonTable:
    """The hours at which the moon crosses the meridian."""

    def next_transit(self, hour: float) -> float:
        """Return the next hour at which the moon crosses the meridian; high water follows it."""
        return hour + 12.42


def phase(day: int) -> float:
    """Return the phase of the moon on a day, 0 for new and 0.5 for full."""
    return day % 29.53 / 29.53
