"""Jobs, models and cards for tests of memory and search. Shapes are those of the public configuration files."""

from __future__ import annotations

from app.domain.gpus import Gpu
from app.domain.llm import ModelShape
from app.domain.workload import Architecture, ModelSpec, TargetSpec, TrainingJob, WorkloadSpec


def gpu_of(
    name, memory_gb, usable_gb, *, bf16=312.0, fp16=312.0, fp8=None, tf32=156.0, fp32=19.5, link="nvlink", link_gb_s=600.0, bandwidth=2039.0
):
    return Gpu(
        name=name,
        vendor="NVIDIA",
        architecture="Ampere",
        form_factor="SXM4",
        memory_gb=memory_gb,
        usable_memory_gb=usable_gb,
        memory_bandwidth_gb_s=bandwidth,
        fp32_tflops=fp32,
        tf32_tflops=tf32,
        fp16_tflops=fp16,
        bf16_tflops=bf16,
        fp8_tflops=fp8,
        link=link,
        link_gb_s=link_gb_s,
        pcie_generation=4,
        tdp_w=400.0,
        release_year=2020,
        source_url="",
    )


A100_80 = gpu_of("A100-SXM4-80GB", 80.0, 85.0)
A100_40 = gpu_of("A100-SXM4-40GB", 40.0, 42.3, bandwidth=1555.0)
A6000_48 = gpu_of("RTX-A6000-48GB", 48.0, 51.0, bf16=154.8, fp16=154.8, link="pcie", link_gb_s=0.0, bandwidth=768.0)
RTX4090 = gpu_of(
    "RTX4090-24GB", 24.0, 25.4, bf16=165.2, fp16=165.2, fp8=330.3, tf32=82.6, fp32=82.6, link="none", link_gb_s=0.0, bandwidth=1008.0
)
V100_32 = gpu_of("V100-32GB", 32.0, 33.8, bf16=None, fp16=125.0, tf32=None, fp32=15.7, bandwidth=900.0)
T4 = gpu_of("T4-16GB", 16.0, 15.7, bf16=None, fp16=65.0, tf32=None, fp32=8.1, link="none", link_gb_s=0.0, bandwidth=320.0)
H100_80 = gpu_of("H100-SXM5-80GB", 80.0, 85.0, bf16=989.0, fp16=989.0, fp8=1979.0, tf32=494.0, fp32=67.0, link_gb_s=900.0, bandwidth=3350.0)


def adapter_widths(hidden, query, key, ffn, *, gated):
    """In + out over the seven linears of a gated layer, or the six of a GELU layer."""
    return 2 * (hidden + query) + 2 * (hidden + key) + (3 if gated else 2) * (hidden + ffn)


def shape_of(name, parameters, layers, hidden, heads, kv_heads, vocabulary, ffn, *, gated=True, tied=False, **more):
    return ModelShape(
        name=name,
        parameters=parameters,
        active_parameters=more.pop("active_parameters", parameters),
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        kv_heads=kv_heads,
        head_dim=hidden // heads,
        ffn_size=ffn,
        vocabulary_size=vocabulary,
        tied_embeddings=tied,
        gated_mlp=gated,
        rms_norm=gated,
        embedding_parameters=float(vocabulary * hidden),
        head_parameters=0.0 if tied else float(vocabulary * hidden),
        score_width=float(hidden),
        adapter_widths=layers * (adapter_widths(hidden, hidden, kv_heads * (hidden // heads), ffn, gated=gated)),
        **more,
    )


LLAMA_7B = shape_of("llama-2-7b", 6.738e9, 32, 4096, 32, 32, 32000, 11008)
LLAMA_13B = shape_of("llama-2-13b", 13.016e9, 40, 5120, 40, 40, 32000, 13824)
LLAMA_65B = shape_of("llama-65b", 65.286e9, 80, 8192, 64, 64, 32000, 22016)
LLAMA_70B = shape_of("llama-2-70b", 68.977e9, 80, 8192, 64, 8, 32000, 28672)
LLAMA3_8B = shape_of("llama-3-8b", 8.03e9, 32, 4096, 32, 8, 128256, 14336)
NEOX_20B = shape_of("gpt-neox-20b", 20.555e9, 44, 6144, 64, 64, 50432, 24576, gated=False)
MIXTRAL = shape_of(
    "mixtral-8x7b",
    46.703e9,
    32,
    4096,
    32,
    8,
    32000,
    14336,
    active_parameters=12.88e9,
    experts=8,
    experts_per_token=2,
    moe_layers=32,
    moe_ffn_size=14336,
)


def job_of(model, method="full", *, sequence_length=2048, global_batch=128, trainable=None, stack="unknown", **spec):
    updated = trainable if trainable is not None else (16.0 * model.adapter_widths if method in {"lora", "qlora"} else model.parameters)
    precision, optimizer = spec.get("precision", "bf16"), spec.get("optimizer", "adamw")
    words = WorkloadSpec(
        model=ModelSpec(architecture=Architecture(parameters_b=model.parameters / 1e9)),
        method=method,
        target=TargetSpec(tokens_b=1.0),
        stack=stack,
        **spec,
    )
    return TrainingJob(
        spec=words,
        model=model,
        method=method,
        unit="token",
        units_total=1e9,
        units_per_step=float(global_batch * sequence_length),
        flops_per_unit=6.0 * model.active_parameters,
        model_flops=6e9 * model.active_parameters,
        sequence_length=sequence_length,
        global_batch_sequences=global_batch,
        lora_rank=16,
        trainable_parameters=updated,
        precision=precision,
        optimizer=optimizer,
        stack=stack,
        checkpoint_gb=14.0,
    )
