"""How platforms meter time: step and minimum, as their documentation states them. A platform whose documentation was not found has no row.

Where a page states the step but no minimum, one step is the minimum. Days of reading are unknown unless the page carried one.
"""

from __future__ import annotations

from app.domain.market import BillingRule, PurchaseOption, Source
from tools.make_data.dates import observed
from tools.make_data.origins import of_page

_RULES: tuple[tuple[str, PurchaseOption | None, int, int, str, str, str], ...] = (
    ("autodl", None, 1, 1, "https://www.autodl.com/docs/price/", "2026-07", "from power-on to power-off; at least 0.01 CNY"),
    (
        "aws",
        None,
        1,
        60,
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StartInstances.html",
        "2026",
        "a minute at each start",
    ),
    ("azure", None, 1, 1, "https://learn.microsoft.com/azure/virtual-machines/states-billing", "", "while allocated"),
    ("baidu", None, 60, 60, "https://cloud.baidu.com/doc/BML/s/0khemrtv0", "", ""),
    ("civo", None, 3600, 3600, "https://www.civo.com/docs/account/billing", "2026-04-28", "running or not"),
    ("compshare", None, 1, 1, "https://www.compshare.cn/docs/operation/charge/bill", "2026-06-26", "settled on the hour"),
    (
        "digitalocean",
        None,
        1,
        60,
        "https://docs.digitalocean.com/products/droplets/details/pricing/",
        "2026-08-18",
        "or 0.01 USD, the larger",
    ),
    ("gcp", None, 1, 60, "https://cloud.google.com/products/compute/pricing/accelerator-optimized", "", ""),
    ("gpushare", None, 1, 1, "https://gpushare.com/docs/product/price", "2022-04", "settled by the hour"),
    ("hotaisle", "on_demand", 60, 60, "https://hotaisle.xyz/pricing", "2026-08-22", "machines of 1, 2 and 4 GPUs"),
    ("huawei", None, 1, 1, "https://support.huaweicloud.com/intl/en-us/price-ecs/ecs_billing_2003.html", "", "settled by the hour"),
    ("hyperstack", None, 60, 60, "https://docs.hyperstack.cloud/docs/billing/states-and-billing", "2026-08-26", ""),
    ("ibm", None, 1, 0, "https://github.com/ibm-cloud-docs/vpc/blob/3fdff6f6/quotas.md", "2026-08-21", "no minimum"),
    ("jarvislabs", None, 60, 60, "https://jarvislabs.ai/pricing", "2026-09-20", ""),
    ("lambda", None, 60, 60, "https://docs.lambda.ai/public-cloud/billing", "2026-08", "from passing health checks to termination"),
    ("massedcompute", None, 60, 60, "https://vm-docs.massedcompute.com/docs/billing/overview", "", "prepaid, debited every minute"),
    ("matpool", None, 60, 60, "https://matpool.com/", "2026-06", "boot not billed"),
    ("ovhcloud", None, 3600, 3600, "https://api.ovh.com/1.0/order/catalog/public/cloud?ovhSubsidiary=FR", "2026-08-22", "hour or month"),
    ("runpod", None, 1, 1, "https://docs.runpod.io/pods/pricing", "2026-08-20", ""),
    (
        "salad",
        None,
        1,
        1,
        "https://docs.salad.com/container-engine/explanation/billing-pricing/billing",
        "2026-06-29",
        "only while running",
    ),
    ("scaleway", None, 60, 60, "https://www.scaleway.com/en/pricing/virtual-instances/", "2026", "GPU instances, while powered on"),
    ("tencent", None, 1, 1, "https://cloud.tencent.com/document/product/560/8025", "2022", "settled by the hour"),
    ("thundercompute", None, 60, 60, "https://www.thundercompute.com/docs/billing", "2026", ""),
    (
        "together",
        "on_demand",
        3600,
        3600,
        "https://docs.together.ai/docs/gpu-clusters-billing",
        "2026",
        "reservations are charged in advance",
    ),
    ("vast", None, 1, 1, "https://docs.vast.ai/guides/instances/pricing", "2026-08-07", "prepaid"),
    (
        "vultr",
        None,
        3600,
        3600,
        "https://docs.vultr.com/support/platform/billing/how-am-i-billed-for-my-servers",
        "2025-09-15",
        "whole hours, stopped or not",
    ),
)


def billing_rules() -> list[BillingRule]:
    """All rules, sorted by provider."""
    rules = []
    for provider, option, step, minimum, url, read, note in sorted(_RULES, key=lambda row: (row[0], row[1] or "")):
        observed_at, precision = observed(read)
        source = Source(name=of_page(url).name, url=url, observed_at=observed_at, date_precision=precision)
        rules.append(BillingRule(provider=provider, option=option, step_seconds=step, minimum_seconds=minimum, source=source, note=note))
    return rules
