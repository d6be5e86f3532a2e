"""Addresses on the network: which are this machine's own, and how they are shown."""

import ipaddress
import re

from pipeline.errors import ConfigurationError


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is reachable from this machine alone: 127.0.0.0/8, ::1 or localhost."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def without_password(url: str) -> str:
    """Return a URL without the user's name and password that it may hold; the password may hold any sign."""
    return re.sub(r"//[^/@:\s]*(:\S*)?@", "//", url)


def check_has_no_login(uri: str) -> None:
    """Raise ConfigurationError, which doesn't show it, if a server's address holds a user or a password."""
    if "@" in uri:
        raise ConfigurationError(
            "The address of the server holds a user or a password.",
            "Leave out what stands before the @, and set NEO4J_USERNAME and NEO4J_PASSWORD.",
        )
