"""What the time line and the bill assume about a job where the caller said nothing, in the caller's language."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.assumptions import Assumptions, Figure
from app.domain.bill_lines import number
from app.domain.storage_io import dataset_gb, download_gb
from app.domain.texts import Texts
from app.domain.workload import TrainingJob


def planning_notes(job: TrainingJob, assumptions: Assumptions, texts: Texts) -> tuple[str, ...]:
    """One sentence for each default that entered, then the constants that every plan shares."""
    data, notes = job.spec.data, list[str]()
    if data.dataset_gb is None:
        size = number(dataset_gb(job, assumptions))
        if job.unit == "token":
            notes.append(texts.say("assumption.dataset_from_tokens", gb=size, bytes=number(assumptions.bytes_per_token.value)))
        else:
            notes.append(texts.say("assumption.dataset_default", gb=size))
    if data.download_gb is None:
        notes.append(texts.say("assumption.download_default", gb=number(download_gb(job))))
    if job.spec.setup_hours is None:
        single = assumptions.setup_single_node_hours.value
        several = single + assumptions.setup_multi_node_extra_hours.value
        notes.append(texts.say("assumption.setup_default", single=number(single), several=number(several)))
    if job.model is not None and job.stack == "unknown" and job.spec.assumed_mfu is None:
        notes.append(texts.say("assumption.stack_unknown"))
    return (
        *notes,
        texts.say("assumption.kept", count=data.checkpoints_kept, days=number(data.keep_storage_days, 1)),
        texts.say("assumption.own_line", rate=number(data.upload_mbit_s)),
        texts.say(
            "assumption.waits",
            provisioning=_span(assumptions.provisioning_hours.values()),
            quota=_span(assumptions.quota_wait_hours.values()),
        ),
        texts.say("assumption.goodput", share=number(assumptions.goodput.value)),
        texts.say("assumption.checkpoint_rate", rate=number(assumptions.checkpoint_write_gb_per_s_per_node.value)),
        texts.say("assumption.storage_month", hours=number(assumptions.storage_month_hours.value)),
        texts.say("assumption.keep", disk=number(assumptions.system_disk_gb.value), image=number(assumptions.image_gb.value)),
    )


def _span(figures: Iterable[Figure]) -> str:
    values = [figure.value for figure in figures]
    return f"{number(min(values))}–{number(max(values))}"
