"""Region → country (ISO 3166 alpha-2), None when the region names no country.

Exact names and the naming scheme of each provider, no guessing.
"""

from __future__ import annotations

import re

_AWS = {
    "af-south-1": "ZA",
    "ap-east-1": "HK",
    "ap-east-2": "TW",
    "ap-northeast-1": "JP",
    "ap-northeast-2": "KR",
    "ap-northeast-3": "JP",
    "ap-south-1": "IN",
    "ap-south-2": "IN",
    "ap-southeast-1": "SG",
    "ap-southeast-2": "AU",
    "ap-southeast-3": "ID",
    "ap-southeast-4": "AU",
    "ap-southeast-5": "MY",
    "ap-southeast-7": "TH",
    "ca-central-1": "CA",
    "ca-west-1": "CA",
    "eu-central-1": "DE",
    "eu-central-2": "CH",
    "eu-north-1": "SE",
    "eu-south-1": "IT",
    "eu-south-2": "ES",
    "eu-west-1": "IE",
    "eu-west-2": "GB",
    "eu-west-3": "FR",
    "eusc-de-east-1": "DE",
    "il-central-1": "IL",
    "me-central-1": "AE",
    "me-south-1": "BH",
    "mx-central-1": "MX",
    "sa-east-1": "BR",
}
_AZURE = {
    "australiacentral": "AU",
    "australiacentral2": "AU",
    "australiaeast": "AU",
    "australiasoutheast": "AU",
    "brazilsouth": "BR",
    "canadacentral": "CA",
    "canadaeast": "CA",
    "centralindia": "IN",
    "centralus": "US",
    "eastasia": "HK",
    "eastus": "US",
    "eastus2": "US",
    "francecentral": "FR",
    "francesouth": "FR",
    "germanynorth": "DE",
    "germanywestcentral": "DE",
    "indonesiacentral": "ID",
    "israelcentral": "IL",
    "italynorth": "IT",
    "japaneast": "JP",
    "japanwest": "JP",
    "jioindiacentral": "IN",
    "jioindiawest": "IN",
    "koreacentral": "KR",
    "koreasouth": "KR",
    "malaysiawest": "MY",
    "mexicocentral": "MX",
    "northcentralus": "US",
    "northeurope": "IE",
    "norwayeast": "NO",
    "polandcentral": "PL",
    "qatarcentral": "QA",
    "southafricanorth": "ZA",
    "southafricawest": "ZA",
    "southcentralus": "US",
    "southeastasia": "SG",
    "southindia": "IN",
    "spaincentral": "ES",
    "swedencentral": "SE",
    "switzerlandnorth": "CH",
    "switzerlandwest": "CH",
    "uaecentral": "AE",
    "uaenorth": "AE",
    "uksouth": "GB",
    "ukwest": "GB",
    "westcentralus": "US",
    "westeurope": "NL",
    "westus": "US",
    "westus2": "US",
    "westus3": "US",
}
_GCP = {
    "africa-south1": "ZA",
    "asia-east1": "TW",
    "asia-east2": "HK",
    "asia-northeast1": "JP",
    "asia-northeast2": "JP",
    "asia-northeast3": "KR",
    "asia-south1": "IN",
    "asia-south2": "IN",
    "asia-southeast1": "SG",
    "asia-southeast2": "ID",
    "australia-southeast1": "AU",
    "australia-southeast2": "AU",
    "europe-central2": "PL",
    "europe-north1": "FI",
    "europe-southwest1": "ES",
    "europe-west1": "BE",
    "europe-west10": "DE",
    "europe-west12": "IT",
    "europe-west2": "GB",
    "europe-west3": "DE",
    "europe-west4": "NL",
    "europe-west6": "CH",
    "europe-west8": "IT",
    "europe-west9": "FR",
    "me-central1": "QA",
    "me-central2": "SA",
    "me-west1": "IL",
    "northamerica-northeast1": "CA",
    "northamerica-northeast2": "CA",
    "southamerica-east1": "BR",
    "southamerica-west1": "CL",
}
_ALIYUN = {
    "cn-hongkong": "HK",
    "ap-northeast-1": "JP",
    "ap-northeast-2": "KR",
    "ap-southeast-1": "SG",
    "ap-southeast-2": "AU",
    "ap-southeast-3": "MY",
    "ap-southeast-5": "ID",
    "ap-southeast-6": "PH",
    "ap-southeast-7": "TH",
    "ap-south-1": "IN",
    "eu-central-1": "DE",
    "eu-west-1": "GB",
    "me-east-1": "AE",
    "me-central-1": "SA",
    "us-west-1": "US",
    "us-east-1": "US",
}
_NAMED: dict[str, dict[str, str]] = {
    "aws": _AWS,
    "aws-china": {"cn-north-1": "CN", "cn-northwest-1": "CN"},
    "azure": _AZURE,
    "gcp": _GCP,
    "aliyun": _ALIYUN,
    "alibaba": _ALIYUN,
    "autodl": {"all": "CN"},
    "compshare": {"all": "CN"},
    "digitalocean": {"tor1": "CA"},
    "fluidstack": {"ARIZONA_USA": "US", "CANADA": "CA", "FINLAND": "FI", "NORTH_DAKOTA_USA": "US", "UTAH_USA": "US"},
    "hotaisle": {"us": "US", "us-michigan-1": "US"},
    "hyperstack": {"CANADA-1": "CA", "NORWAY-1": "NO", "US-1": "US"},
    "ibm": {
        "au-syd": "AU",
        "br-sao": "BR",
        "ca-tor": "CA",
        "eu-de": "DE",
        "eu-gb": "GB",
        "jp-osa": "JP",
        "jp-tok": "JP",
        "us-east": "US",
        "us-south": "US",
    },
    "jarvislabs": {"IN1": "IN", "IN2": "IN"},
    "lambda": {
        "asia-northeast-1": "JP",
        "asia-northeast-2": "JP",
        "asia-south-1": "IN",
        "australia-east-1": "AU",
        "europe-central-1": "DE",
        "me-west-1": "IL",
    },
    "nebius": {"eu-north1": "FI", "eu-west1": "FR", "us-central1": "US", "uk-south1": "GB", "me-west1": "IL"},
    "oci": {
        "af-casablanca-1": "MA",
        "af-johannesburg-1": "ZA",
        "us-phoenix-1": "US",
        "us-sanjose-1": "US",
        "us-ashburn-1": "US",
        "us-chicago-1": "US",
    },
    "ovhcloud": {"BHS": "CA", "FRA": "DE", "GRA": "FR", "LON": "GB", "WAW": "PL"},
    "paperspace": {"East Coast (NY2)": "US"},
    "samsung-scp": {"KOREA-WEST-1-SCP-B001": "KR"},
    "scaleway": {"fr-par": "FR", "fr-par-1": "FR", "fr-par-2": "FR", "nl-ams-1": "NL", "pl-waw-2": "PL"},
    "seeweb": {"it-fr2": "IT"},
    "simplepod": {"Europe-EE": "EE", "Europe-NO": "NO", "Europe-PL": "PL", "North America-CA": "CA"},
    "spheron": {"CANADA-1": "CA", "Finland 3": "FI", "NORWAY-1": "NO", "SYD2": "AU", "TYO4": "JP", "US-1": "US"},
    "verda": {"FIN-01": "FI", "FIN-02": "FI", "FIN-03": "FI"},
}
_US_PREFIX = frozenset({"aws", "gcp", "lambda", "mithril", "yotta", "spheron", "oci"})
"""Providers whose regions that begin with ``us-`` lie in the United States."""
_COUNTRY_IS_REGION = frozenset({"runpod", "lium", "primeintellect"})
_CITY_COUNTRY = frozenset({"shadeform", "spheron"})
_WORDS = {
    "usa": "US",
    "india": "IN",
    "canada": "CA",
    "france": "FR",
    "japan": "JP",
    "poland": "PL",
    "germany": "DE",
    "uk": "GB",
    "norway": "NO",
    "singapore": "SG",
}


def country_of(provider: str, region: str) -> str | None:
    """The country a provider's region lies in, or None when its name tells none."""
    named = _NAMED.get(provider, {}).get(region)
    if named:
        return named
    if provider in _US_PREFIX and region.startswith("us-"):
        return "US"
    if provider in _COUNTRY_IS_REGION and re.fullmatch(r"[A-Z]{2}", region):
        return region
    if provider == "vast" and (match := re.fullmatch(r".*, ([A-Z]{2}), [A-Z]{2}", region)):
        return match[1]
    if provider in _CITY_COUNTRY and (match := re.fullmatch(r"[a-z]+-([a-z]+)-\d+", region)):
        return _WORDS.get(match[1])
    if provider in {"aliyun", "alibaba"} and region.startswith("cn-"):
        return "CN"
    if provider == "cudo" and (match := re.fullmatch(r"([a-z]{2})-[a-z]+-\d+", region)):
        return match[1].upper()
    return None


NORTH_AMERICA = frozenset({"US", "CA", "MX"})
EUROPE = frozenset(
    {"AT", "BE", "CH", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "GR", "HU", "IE", "IS", "IT", "NL", "NO", "PL", "PT", "RO", "SE"}
)
ASIA_PACIFIC = frozenset({"AU", "HK", "ID", "IN", "JP", "KR", "MY", "NZ", "PH", "SG", "TH", "TW", "VN"})
SOUTH_AMERICA = frozenset({"BR", "CL", "CO", "AR"})
MIDDLE_EAST_AFRICA = frozenset({"AE", "BH", "IL", "MA", "QA", "SA", "ZA"})
