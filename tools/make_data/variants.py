"""Words in a machine's name that make it another product although platform, card and count are equal."""

from __future__ import annotations

import re

_WORDS = {
    "nvlink": re.compile(r"nvlink", re.IGNORECASE),
    "confidential": re.compile(r"(?<![a-z])cc(?![a-z])|ncc\d|confidential", re.IGNORECASE),
    "community": re.compile(r"community", re.IGNORECASE),
    "ethernet": re.compile(r"ethernet", re.IGNORECASE),
    "infiniband": re.compile(r"infiniband", re.IGNORECASE),
    "bare metal": re.compile(r"bare.?metal", re.IGNORECASE),
    "cluster": re.compile(r"cluster", re.IGNORECASE),
    "flexible": re.compile(r"flex|noIB|isrf"),
    "liquid-cooled": re.compile(r"liquid", re.IGNORECASE),
    "low end": re.compile(r"-le-"),
}


def variant_of(sku: str) -> frozenset[str]:
    """The product words in a machine's name."""
    return frozenset(word for word, pattern in _WORDS.items() if pattern.search(sku))
