"""Addresses on the network: which are this machine's own, and how they are shown."""

import ipaddress
import re


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is reachable from this machine alone: 127.0.0.0/8, ::1 or localhost."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def without_password(url: str) -> str:
    """Return a URL without the user's name and password that it may hold."""
    return re.sub(r"//[^/@]*@", "//", url)
