"""Quotas of new accounts from the three quotas-*.csv."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from app.domain.market import Quota, Source
from tools.make_data.dates import observed
from tools.make_data.origins import Origin, barred_by, of_page
from tools.make_data.providers import provider_id
from tools.make_data.tally import Tally

FILES = ("quotas-cn-and-html.csv", "quotas-gpuclouds.csv", "quotas-hyperscalers.csv")

_UNITS = {"vcpu": "vcpu", "vCPU": "vcpu", "gpu": "gpu", "gpus": "gpu", "instance": "instance", "instances": "instance", "usd": "usd"}


def quotas(files: Mapping[str, list[dict[str, str]]], tally: Tally) -> tuple[list[Quota], dict[str, Origin]]:
    """All quotas counted in vCPU, GPUs, instances or USD, sorted; and their origins."""
    found: dict[tuple[str, str, str, str, str, str], Quota] = {}
    origins: dict[str, Origin] = {}
    for name in FILES:
        for row in files[name]:
            tally.read[name] += 1
            reason = barred_by(row["source_url"], row["note"])
            if reason is None and not row["source_url"]:
                reason = "no source named"
            if reason is None and row["unit"] not in _UNITS:
                reason = f"counted in {row['unit'] or 'no stated unit'}"
            if reason:
                tally.leave_out(name, reason)
                continue
            origin = of_page(row["source_url"])
            origins[origin.id] = origin
            observed_at, precision = observed(row["as_of"])
            quota = Quota(
                provider=provider_id(row["provider"]),
                scope=row["region_scope"],
                code=row.get("quota_code", ""),
                name=row["quota_name"],
                gpu_family=row["gpu_family"],
                unit=_UNITS[row["unit"]],
                default=Decimal(row["default_new_account"]) if row["default_new_account"] else None,
                approval=_approval(row["approval_time_note"]),
                source=Source(name=origin.name, url=origin.url, observed_at=observed_at, date_precision=precision),
                note=_note(row["note"]),
            )
            key = (quota.provider, quota.scope, quota.code, quota.name, quota.gpu_family, quota.unit)
            if key in found:
                tally.leave_out(name, "stated twice")
                continue
            found[key] = quota
    return [found[key] for key in sorted(found)], origins


_APPROVALS: tuple[tuple[str, str], ...] = (
    ("1-3 business days", "1-3 business days by a third-party guide; reviewed by support"),
    ("1-3 working days", "1-3 working days by one user's note"),
    ("refused automatically", "often refused automatically, then a support ticket"),
    ("small requests are often decided by automation", "small requests in minutes, large ones by a human; paid account needed"),
    ("at once after real-name", "at once after real-name check"),
    ("at once", "at once"),
    ("automatic", "automatic with balance"),
    ("contact support", "contact support"),
    ("support", "support request"),
    ("quota center", "request in the console"),
    ("identity verification", "after identity check"),
)


def _approval(text: str) -> str:
    folded = text.casefold()
    return next((words for needle, words in _APPROVALS if needle in folded), "unknown" if text else "")


def _note(text: str) -> str:
    folded = text.casefold()
    if "documented default" in folded and "not captured" not in folded:
        return "documented default"
    if "not captured" in folded:
        return "documented default not found"
    if "not a document" in folded or "typical" in folded or "in practice" in folded:
        return "from practice, not a documented default"
    return ""
