"""What a training job needs on each GPU: which bytes exist, when they exist together, and whether they fit.

The peak is the largest of five moments (``PEAK_PHASES``): at the loss, in backward, at its end, in the optimizer step, while loading.
Everything is column arithmetic: one estimate is a column of length 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.domain.configuration import Configuration, ConfigurationColumns
from app.domain.hardware import Floats, HardwareColumns, Ints
from app.domain.memory_activations import ActivationColumns, activation_columns
from app.domain.memory_constants import CONSTANTS
from app.domain.memory_states import MemoryRecipe, StateColumns, floats, recipe_of, state_columns
from app.domain.physics import BREAKDOWN, PEAK_PHASES, VERDICTS, MemoryColumns, MemoryEstimate
from app.domain.units import GB
from app.domain.workload import TrainingJob

_FITS, _TIGHT, _NO = (VERDICTS.index(word) for word in ("fits", "tight", "does_not_fit"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """Live tensors at the peak, GB per GPU; the five terms sum to ``allocated_gb``. ``host_ram_gb`` is per node."""

    allocated_gb: Floats
    phase: Ints
    terms_gb: dict[str, Floats]
    host_ram_gb: Floats


def allocate(
    job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns, recipe: MemoryRecipe | None = None
) -> Allocation:
    """Live tensors of every row at its peak, whatever the card.

    ``recipe`` overrides the stack's own habits. With gradient accumulation, gradients of earlier micro-steps exist at the loss too.
    """
    recipe = recipe or recipe_of(job.stack)
    states = state_columns(job, hardware, configuration, recipe)
    moments = _moments(states, _activations(job, configuration, states, recipe), configuration, recipe)
    phase = np.argmax(np.stack([sum(moment.values(), np.zeros(len(configuration))) for moment in moments]), axis=0)
    terms = {
        name: np.choose(phase, [moment.get(name, np.zeros(len(configuration))) for moment in moments]) / GB
        for name in BREAKDOWN
        if name != "overhead"
    }
    total = sum(terms.values(), np.zeros(len(configuration)))
    return Allocation(allocated_gb=total, phase=phase, terms_gb=terms, host_ram_gb=states.host / GB)


def _moments(
    states: StateColumns, activations: ActivationColumns, configuration: ConfigurationColumns, recipe: MemoryRecipe
) -> tuple[dict[str, Floats], ...]:
    """Bytes by term in each of the five moments, in the order of ``PEAK_PHASES``."""
    working = states.weights + states.gathered
    accumulated = np.where(configuration.gradient_accumulation > 1, states.gradients, 0.0)
    loaded = states.whole + states.weights + states.gathered if recipe.every_rank_loads_whole else states.weights
    return (
        {
            "weights": working,
            "gradients": accumulated,
            "optimizer": states.optimizer,
            "activations": activations.kept_at_loss,
            "logits": activations.logits,
        },
        {
            "weights": working,
            "gradients": np.maximum(accumulated, states.head_gradients),
            "optimizer": states.optimizer,
            "activations": activations.kept_in_backward + activations.in_flight,
        },
        {"weights": working, "gradients": states.gradients, "optimizer": states.optimizer, "activations": activations.in_flight},
        {"weights": states.weights, "gradients": states.gradients, "optimizer": states.optimizer + states.step_copy},
        {"weights": loaded},
    )


def _activations(job: TrainingJob, configuration: ConfigurationColumns, states: StateColumns, recipe: MemoryRecipe) -> ActivationColumns:
    """Activations by the model's shape or, without one, by its FLOPs a sample or its states (assumptions of ``memory_notes``)."""
    if job.model is not None:
        return activation_columns(job.model, job, configuration, states.fully_sharded.astype(np.float64), recipe)
    if job.unit == "sample" and job.flops_per_unit is not None:
        kept = CONSTANTS.activation_bytes_per_flop * job.flops_per_unit * configuration.micro_batch
    else:
        kept = CONSTANTS.activations_of_states * (states.weights + states.gradients + states.optimizer) * configuration.micro_batch
    nothing = np.zeros(len(configuration))
    return ActivationColumns(kept_at_loss=floats(kept), kept_in_backward=floats(kept), in_flight=nothing, logits=nothing)


def estimate_memory(
    job: TrainingJob, hardware: HardwareColumns, configuration: ConfigurationColumns, recipe: MemoryRecipe | None = None
) -> MemoryColumns:
    """Needed and available memory of every row, with the verdict and the breakdown of the peak.

    Rows whose host memory is known and smaller than what offload needs do not fit; where it is unknown they are ``tight`` at best. A job
    of which neither shape nor parameters are known ran somewhere: the measured card's usable memory is taken as the need; where that card
    is not among ``hardware.gpus`` either, the need is unknown, and every card is called ``tight`` with its own memory as the figure.
    """
    available = hardware.per_gpu([gpu.usable_memory_gb for gpu in hardware.gpus])
    if not memory_is_known(job):
        return _as_measured(job, hardware, available)
    allocation = allocate(job, hardware, configuration, recipe)
    allocated = allocation.allocated_gb
    needed = device_gb(allocated)
    verdict = np.where(allocated <= fits_below_gb(available), _FITS, np.where(allocated <= tight_below_gb(available), _TIGHT, _NO))
    short_of_ram = allocation.host_ram_gb > hardware.ram_gb_per_node  # False where unknown
    unsure = (allocation.host_ram_gb > 0.0) & np.isnan(hardware.ram_gb_per_node)
    verdict = np.where(unsure & (verdict == _FITS), _TIGHT, verdict)
    return MemoryColumns(
        needed_gb=needed,
        cautious_gb=cautious_gb(allocated),
        available_gb=available,
        host_ram_gb=allocation.host_ram_gb,
        host_unknown=unsure,
        verdict=np.where(short_of_ram, _NO, verdict),
        peak_phase=allocation.phase,
        breakdown_gb={**allocation.terms_gb, "overhead": needed - allocated},
    )


def device_gb(allocated_gb: Floats) -> Floats:
    """The likely reading of the driver's tool, GB."""
    return CONSTANTS.central_factor * allocated_gb + CONSTANTS.central_gb


def cautious_gb(allocated_gb: Floats) -> Floats:
    """The reading to be prepared for, GB: samples of mixed lengths, fragmentation."""
    return CONSTANTS.cautious_factor * allocated_gb + CONSTANTS.cautious_gb


def fits_below_gb(usable_gb: Floats) -> Floats:
    """Live tensors, GB, up to which a card of ``usable_gb`` is said to fit."""
    return (usable_gb - CONSTANTS.cautious_gb) / CONSTANTS.cautious_factor


def tight_below_gb(usable_gb: Floats) -> Floats:
    """Live tensors, GB, up to which a card of ``usable_gb`` is said to be tight."""
    return (usable_gb - CONSTANTS.central_gb) / CONSTANTS.central_factor


def memory_is_known(job: TrainingJob) -> bool:
    """Whether there is anything to count: a shape, or at least a number of parameters."""
    return job.model is not None or job.trainable_parameters > 0.0


def _as_measured(job: TrainingJob, hardware: HardwareColumns, available: Floats) -> MemoryColumns:
    """The need of a job of which only a measurement is known (the smallest of its measured cards)."""
    measured = {measurement.gpu for measurement in job.spec.measured}
    known = [gpu.usable_memory_gb for gpu in hardware.gpus if gpu.name in measured]
    needed = np.full(len(hardware), min(known)) if known else available.copy()
    verdict = np.where(needed <= available, _FITS if known else _TIGHT, _NO)
    nothing = np.zeros(len(hardware))
    breakdown = dict.fromkeys(BREAKDOWN, nothing) | {"overhead": needed}
    return MemoryColumns(
        needed_gb=needed,
        cautious_gb=needed,
        available_gb=available,
        host_ram_gb=nothing,
        host_unknown=np.zeros(len(hardware), dtype=np.bool_),
        verdict=verdict,
        peak_phase=np.zeros(len(hardware), dtype=np.int64),
        breakdown_gb=breakdown,
    )


def memory_notes(job: TrainingJob, configuration: Configuration) -> tuple[str, ...]:
    """Codes of what a reader of this figure must know."""
    notes = []
    if not memory_is_known(job):
        notes.append("memory_as_on_measured_card" if job.spec.measured else "memory_unknown")
    elif job.model is None:
        notes.append("activations_assumed_from_flops" if job.unit == "sample" and job.flops_per_unit else "activations_assumed_from_states")
    if configuration.optimizer != "adamw" and job.method in {"full", "pretrain"} and configuration.precision not in {"tf32", "fp32"}:
        notes.append("pure_16_bit_weights")
    if configuration.optimizer == "paged_adamw_8bit":
        notes.append("optimizer_pages_over_pcie")
    if configuration.offload != "none":
        notes.append("host_memory_needed")
    if configuration.precision != job.precision:
        notes.append(f"{job.precision}_replaced_by_{configuration.precision}")
    return tuple(notes)


def memory_of_row(job: TrainingJob, columns: MemoryColumns, configuration: Configuration, row: int) -> MemoryEstimate:
    """One row in words."""
    unsure = ("host_memory_unknown",) if columns.host_unknown[row] else ()
    return MemoryEstimate(
        verdict=VERDICTS[columns.verdict[row]],
        needed_gb_per_gpu=float(columns.needed_gb[row]),
        available_gb_per_gpu=float(columns.available_gb[row]),
        peak_phase=PEAK_PHASES[columns.peak_phase[row]],
        breakdown_gb={name: float(values[row]) for name, values in columns.breakdown_gb.items()},
        host_ram_gb_per_node=float(columns.host_ram_gb[row]),
        notes=(*memory_notes(job, configuration), *unsure),
    )
