"""Remarks worth keeping on a shipped row, in our own few words.

The first column is looked for in the source row's remark, the second is written.
"""

from __future__ import annotations

OFFER_PHRASES: tuple[tuple[str, str], ...] = (
    ("treat the currency as unconfirmed", "currency unconfirmed: the source states none, the provider publishes EUR"),
    ("scaleway publishes eur", "currency unconfirmed: the source states none, the provider publishes EUR"),
    ("region empty in source", "not in stock when read"),
    ("listed in every", "listed in every region; says nothing of availability"),
    ("lists every type in all", "listed in every region; says nothing of availability"),
    ("every type listed in all", "listed in every region; says nothing of availability"),
    ("lists every shape in every region", "listed in every region; says nothing of availability"),
    ("marketplace", "marketplace machine"),
    ("synthetic size", "size put together from prices of parts"),
    ("in stock when fetched", "source lists only what was in stock"),
    ("without infiniband", "without InfiniBand"),
    ("confidential vm", "confidential computing"),
    ("confidential-computing variant", "confidential computing"),
    ("filled from the published", "GPU count, vCPU and RAM from published sizes, not from the price file"),
    ("nvlink bridge", "PCIe cards with NVLink bridges"),
    ("nvlink-bridged", "PCIe cards with NVLink bridges"),
    ("secure cloud", "secure cloud"),
    ("community cloud", "community hosts; stock not guaranteed"),
    ("low-end variant", "low-end variant of the flavour"),
    ("region literally", "the source's only region"),
    ("region not stated", "region not stated"),
    ("instance size not stated", "machine size not stated; list rate per GPU"),
    ("instance size and region not stated", "machine size and region not stated; list rate per GPU"),
    ("region and instance size not stated", "machine size and region not stated; list rate per GPU"),
    ("form factor not stated", "form factor not stated"),
    ("does not say sxm or pcie", "form factor not stated"),
    ("form factor from the model family", "form factor taken from the model family"),
    ("ada assumed", "card generation not on the page; Ada assumed"),
    ("page names no generation", "card generation not on the page"),
    ("host included", "price of the whole slice, host included"),
    ("per-chip list price", "list price of one chip"),
    ("superchips of an nvl72", "part of an NVL72 rack"),
    ("ultraserver", "whole UltraServer"),
    ("local zone", "Local Zone"),
    ("multiples of 8 gpus", "sold in multiples of 8 GPUs"),
    ("vcpus and ram_gb are the maximum per gpu", "vCPU and RAM are the most per GPU"),
    ("no stock in the sample", "no stock when read"),
    ("no stop state", "no stop state: only terminate"),
    ("450 gb disk included", "450 GB disk included"),
    ("1200 gb disk included", "1200 GB disk included"),
    ("gpu model and memory from the family name", "GPU inferred from the instance family"),
    ("disk and network extra", "disk and network extra"),
    ("tax extra", "tax extra"),
    ("cluster rate", "cluster"),
    ("instant cluster", "cluster"),
)

TARIFF_PHRASES: tuple[tuple[str, str], ...] = (
    ("auction floor", "lowest bid of an auction, not a price one can buy at"),
    ("spot is the lowest zone", "lowest zone of the region"),
    ("sum for the whole term", "sum for the whole term, paid at once or monthly"),
    ("committed use, price of one month", "committed use; vCPU, RAM and GPU for one month of 730 h; local SSD may come on top"),
    (
        "paid for the whole block in advance",
        "block of 1 to 14 days or multiples of 7 up to 182 days, paid in advance; operating system extra",
    ),
    ("names no term length", "commitment without a stated length"),
    ("flat monthly plan", "flat month"),
    ("commitment price per hour", "committed rate, billed by the hour"),
    ("2 weeks to 1 year", "cluster rate from two weeks to one year; weekly bills"),
    ("reserved 7-30 days", "reserved 7 to 30 days, charged in advance"),
    ("reserved 31-90 days", "reserved 31 to 90 days, charged in advance"),
    ("reserved 91-180 days", "reserved 91 to 180 days, charged in advance"),
    ("one-month minimum", "one month at least"),
    ("announced rate", "rate announced with its starting day; confirm with a fresh reading"),
    ("deploy_ondemand=false", "listed, but not to be ordered on demand"),
    ("not sold as plain on-demand", "listed, but not to be ordered on demand"),
    ("preemptible, fixed table", "preemptible; by October a floor that moves"),
    ("public preview", "spot in public preview; reclaim notice at least 2 h"),
    ("second-hand", "second-hand figure"),
    ("sum of two published parts", "compute and storage rates added"),
    ("existing customers keep", "rate for new customers"),
    ('"from" price', "lowest preset's price"),
    ("highest zone", "highest zone"),
    ("lowest zone", "lowest zone"),
    ("whether list or member price", "list or member price, not stated"),
    ("day not stated", "day not stated"),
    ("linux; effective_from", "Linux"),
    ("article cited", "quoted in an article"),
)


def remark(note: str, phrases: tuple[tuple[str, str], ...]) -> str:
    """Our words for what a source row's remark says, each once, in the table's order."""
    folded = note.casefold()
    found = dict.fromkeys(words for needle, words in phrases if needle in folded)
    return "; ".join(found)
