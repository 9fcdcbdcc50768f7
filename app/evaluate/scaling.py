"""Predicts the rows of a file with the columns of scaling-measured.csv, without looking at what was measured.

Rows of a language model whose batch the workload text states are predicted; collectives and other networks are skipped by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.domain.calibration import Calibration
from app.domain.gpus import Gpu
from app.domain.llm import ModelShape
from app.evaluate.finetune import situation_of_finetune
from app.evaluate.runs import constant_mfu_rate, group_of
from app.evaluate.score import Row, Score, SkippedError, number
from app.evaluate.situation import Situation, predict

MEASURED_COLUMNS = frozenset({"value", "baseline_value", "scaling_efficiency_pct"})
_BENCHMARK_LENGTH = 8192
"""Tokens of one sample of MLPerf's Llama 2 70B LoRA benchmark: it packs to this length."""


def evaluate_scaling(
    rows: Iterable[Row], *, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape], calibration: Calibration
) -> list[Score]:
    """One score a row, in order, in tokens a second and GPU."""
    return [_score(row, gpus, presets, calibration) for row in rows]


def _score(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape], calibration: Calibration) -> Score:
    base = Score(row_id=row["id"], source=row["source"])
    try:
        situation = situation_of_scaling({name: text for name, text in row.items() if name not in MEASURED_COLUMNS}, gpus, presets)
    except SkippedError as skipped:
        return replace(base, skipped=skipped.reason)
    prediction = predict(situation, calibration)
    return replace(
        base,
        group=group_of(situation),
        predicted=prediction.per_gpu,
        p10=prediction.p10,
        p90=prediction.p90,
        constant_mfu=constant_mfu_rate(situation),
        measured=measured_rate(row, situation),
    )


def measured_rate(row: Row, situation: Situation) -> float | None:
    """Tokens a second and GPU that the row reports; None for a doubtful row."""
    value = number(row, "value")
    if value is None or row["quality"] == "C":
        return None
    count = situation.hardware.gpus
    length = situation.job.sequence_length
    return {"tokens/s/GPU": value, "tokens/s": value / count, "samples/s": value * length / count}.get(row["unit"])


def situation_of_scaling(row: Row, gpus: Mapping[str, Gpu], presets: Mapping[str, ModelShape]) -> Situation:
    """The row as a job on hardware in a layout.

    Raises:
        SkippedError: no throughput, no language model, or a workload whose batch is not stated.
    """
    if row["kind"] != "throughput" or row["unit"] not in {"tokens/s/GPU", "tokens/s", "samples/s"}:
        raise SkippedError(reason="not_a_throughput")
    if not row["model"]:
        raise SkippedError(reason="not_a_language_model")
    workload = row["workload"]
    batch = re.search(r"batch (\d+) per GPU", workload)
    length = re.search(r"(?:seq|packed) (\d+)", workload)
    if "unpacked" in workload or (length is None and "LoRA" not in workload):
        raise SkippedError(reason="sequence_length_not_stated")
    wide = {
        "params_billion": "",
        "lora_rank": "16",
        "quant_bits": "4" if row["method"] == "qlora" else "",
        "precision": "fp8/fp4 as submitted" if "MLPerf" in row["source"] else "bf16",
        "optimizer": "",
        "seq_len": str(_BENCHMARK_LENGTH) if length is None else length.group(1),
        "micro_batch": batch.group(1) if batch else "",
        "grad_accum": "",
        "activation_checkpointing": "",
        "attention": "flash",
        "offload": "",
        "framework": "MLPerf submission" if "MLPerf" in row["source"] else workload,
        "interconnect": f"{row['intra_node_link']} | {row['inter_node_link']}",
        "tokens_per_step": "",
    }
    return situation_of_finetune({**row, **wide}, gpus, presets)
