"""Numbers so small that no run has them are refused with their limit, and never reach the arithmetic."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.api.wire_estimate import EstimateIn
from app.api.wire_request import RecommendIn

WORKLOAD = {"model": {"preset": "llama-2-7b"}, "method": "lora", "target": {"tokens_b": 0.1}}


@pytest.mark.parametrize(
    "change", [{"assumed_mfu": 5e-324}, {"data": {"upload_mbit_s": 5e-324}}, {"data": {"checkpoint_interval_minutes": 1e-300}}]
)
def test_a_vanishing_number_in_a_workload_is_refused(change):
    with pytest.raises(ValidationError, match="greater than or equal"):
        RecommendIn.model_validate({"workload": {**WORKLOAD, **change}})


def test_a_vanishing_storage_speed_is_refused():
    hardware = {"gpu": "A100-SXM4-80GB", "storage_gb_s": 5e-324}
    with pytest.raises(ValidationError, match="greater than or equal"):
        EstimateIn.model_validate({"workload": WORKLOAD, "hardware": hardware})
