"""Platforms: id, name, kind, home page, Chinese name. Ids of one platform written two ways in the facts are brought together here.

alibaba and aliyun stay apart on purpose: the international site (USD) and the China site (CNY) have different accounts, regions and
price lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from app.domain.market import ProviderInfo

Kind = Literal["hyperscaler", "gpu_cloud", "marketplace", "broker", "china", "other"]

_SAME = {"ovh": "ovhcloud", "voltage-park": "voltagepark"}


def provider_id(name: str) -> str:
    """The one id of a platform."""
    return _SAME.get(name, name)


_KNOWN: tuple[tuple[str, str, Kind, str, str], ...] = (
    ("ai-galaxy", "AI-Galaxy", "china", "https://ai-galaxy.cn", "智星云"),
    ("akash", "Akash Network", "marketplace", "https://akash.network", ""),
    ("alibaba", "Alibaba Cloud (international)", "hyperscaler", "https://www.alibabacloud.com", "阿里云国际站"),
    ("aliyun", "Alibaba Cloud (China)", "china", "https://www.aliyun.com", "阿里云"),
    ("autodl", "AutoDL", "china", "https://www.autodl.com", "AutoDL"),
    ("aws", "Amazon Web Services", "hyperscaler", "https://aws.amazon.com", "亚马逊云科技"),
    ("aws-china", "AWS China", "china", "https://www.amazonaws.cn", "亚马逊云科技中国区"),
    ("azure", "Microsoft Azure", "hyperscaler", "https://azure.microsoft.com", "微软云"),
    ("baidu", "Baidu AI Cloud", "china", "https://cloud.baidu.com", "百度智能云"),
    ("civo", "Civo", "gpu_cloud", "https://www.civo.com", ""),
    ("cloudrift", "CloudRift", "marketplace", "https://www.cloudrift.ai", ""),
    ("compshare", "Compshare", "china", "https://www.compshare.cn", "优云智算"),
    ("coreweave", "CoreWeave", "gpu_cloud", "https://www.coreweave.com", ""),
    ("crusoe", "Crusoe", "gpu_cloud", "https://www.crusoe.ai", ""),
    ("cudo", "CUDO Compute", "gpu_cloud", "https://www.cudocompute.com", ""),
    ("dataoorts", "Dataoorts", "gpu_cloud", "https://dataoorts.com", ""),
    ("daytona", "Daytona", "gpu_cloud", "https://www.daytona.io", ""),
    ("digitalocean", "DigitalOcean", "gpu_cloud", "https://www.digitalocean.com", ""),
    ("featurize", "Featurize", "china", "https://featurize.cn", "Featurize"),
    ("fluidstack", "Fluidstack", "gpu_cloud", "https://www.fluidstack.io", ""),
    ("gcp", "Google Cloud", "hyperscaler", "https://cloud.google.com", "谷歌云"),
    ("genesis-cloud", "Genesis Cloud", "gpu_cloud", "https://www.genesiscloud.com", ""),
    ("gongjiyun", "Gongjiyun", "china", "https://www.gongjiyun.com", "共绩算力"),
    ("gpufree", "GPUFree", "china", "https://www.gpufree.cn", "算力自由"),
    ("gpuhub", "GPUHub", "gpu_cloud", "https://www.gpuhub.com", ""),
    ("gpushare", "GPUShare", "china", "https://gpushare.com", "恒源云"),
    ("hotaisle", "Hot Aisle", "gpu_cloud", "https://hotaisle.xyz", ""),
    ("huawei", "Huawei Cloud", "china", "https://www.huaweicloud.com", "华为云"),
    ("hyperbolic", "Hyperbolic", "marketplace", "https://www.hyperbolic.ai", ""),
    ("hyperstack", "Hyperstack", "gpu_cloud", "https://www.hyperstack.cloud", ""),
    ("ibm", "IBM Cloud", "hyperscaler", "https://www.ibm.com/cloud", ""),
    ("jarvislabs", "JarvisLabs", "gpu_cloud", "https://jarvislabs.ai", ""),
    ("lambda", "Lambda", "gpu_cloud", "https://lambda.ai", ""),
    ("lanrui", "LanRui", "china", "https://lanrui.co", "揽睿星舟"),
    ("latitude", "Latitude.sh", "gpu_cloud", "https://www.latitude.sh", ""),
    ("lium", "Lium", "marketplace", "https://lium.io", ""),
    ("massedcompute", "Massed Compute", "gpu_cloud", "https://massedcompute.com", ""),
    ("matpool", "MatPool", "china", "https://matpool.com", "矩池云"),
    ("mithril", "Mithril", "marketplace", "https://mithril.ai", ""),
    ("modal", "Modal", "gpu_cloud", "https://modal.com", ""),
    ("nebius", "Nebius", "gpu_cloud", "https://nebius.com", ""),
    ("novita", "Novita AI", "gpu_cloud", "https://novita.ai", ""),
    ("oci", "Oracle Cloud Infrastructure", "hyperscaler", "https://www.oracle.com/cloud", "甲骨文云"),
    ("openbayes", "OpenBayes", "china", "https://openbayes.com", "贝式计算"),
    ("ovhcloud", "OVHcloud", "hyperscaler", "https://www.ovhcloud.com", ""),
    ("packet-ai", "Packet.ai", "gpu_cloud", "https://packet.ai", ""),
    ("paperspace", "Paperspace", "gpu_cloud", "https://www.paperspace.com", ""),
    ("primeintellect", "Prime Intellect", "broker", "https://www.primeintellect.ai", ""),
    ("qubrid", "Qubrid AI", "gpu_cloud", "https://www.qubrid.com", ""),
    ("replicate", "Replicate", "gpu_cloud", "https://replicate.com", ""),
    ("runpod", "RunPod", "gpu_cloud", "https://www.runpod.io", ""),
    ("salad", "Salad", "marketplace", "https://salad.com", ""),
    ("samsung-scp", "Samsung Cloud Platform", "other", "https://cloud.samsungsds.com", ""),
    ("scaleway", "Scaleway", "hyperscaler", "https://www.scaleway.com", ""),
    ("seeweb", "Seeweb", "gpu_cloud", "https://www.seeweb.it", ""),
    ("shadeform", "Shadeform", "broker", "https://www.shadeform.ai", ""),
    ("simplepod", "SimplePod", "marketplace", "https://simplepod.ai", ""),
    ("spheron", "Spheron", "broker", "https://www.spheron.network", ""),
    ("tencent", "Tencent Cloud", "china", "https://cloud.tencent.com", "腾讯云"),
    ("tensordock", "TensorDock", "marketplace", "https://www.tensordock.com", ""),
    ("thundercompute", "Thunder Compute", "gpu_cloud", "https://www.thundercompute.com", ""),
    ("together", "Together AI", "gpu_cloud", "https://www.together.ai", ""),
    ("ucloud", "UCloud", "china", "https://www.ucloud.cn", "优刻得"),
    ("vast", "Vast.ai", "marketplace", "https://vast.ai", ""),
    ("verda", "Verda (formerly DataCrunch)", "gpu_cloud", "https://verda.com", ""),
    ("voltagepark", "Voltage Park", "gpu_cloud", "https://www.voltagepark.com", ""),
    ("vultr", "Vultr", "gpu_cloud", "https://www.vultr.com", ""),
    ("yotta", "Yotta", "gpu_cloud", "https://www.yottalabs.ai", ""),
)


def providers(used: Iterable[str]) -> list[ProviderInfo]:
    """Records of the platforms that shipped rows use, sorted by id.

    Raises:
        KeyError: a row uses a platform that has no entry here.
    """
    known = {row[0]: row for row in _KNOWN}
    return [
        ProviderInfo(id=known[name][0], name=known[name][1], kind=known[name][2], homepage=known[name][3], name_zh=known[name][4])
        for name in sorted(set(used))
    ]
