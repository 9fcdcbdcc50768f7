"""A shape from a pasted Hugging Face ``config.json``, known family or not; hostile input ends in a WorkloadError with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.domain.counting import (
    Dimensions,
    audio_stem_weights,
    count,
    patch_stem_weights,
    pooler_weights,
    relative_position_weights,
    shape_of,
)
from app.domain.hf_experts import experts_of, window_of
from app.domain.hf_families import FAMILIES, NESTED_DEFAULTS, Family, family_name, uncountable, uncountable_layer
from app.domain.hf_fields import Fields
from app.domain.hf_layers import attention_parts, dimensions_of, read_sizes
from app.domain.limits import MAX_LAYERS, MAX_PARAMETERS, MAX_POSITIONS, MAX_VOCABULARY, MAX_WIDTH
from app.domain.llm import ModelShape
from app.domain.workload import WorkloadError

PLACE = "/model/hf_config"
_TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config", "language_model")
_UNKNOWN = Family(gated=None, norm=None)
_UNCOUNTABLE_FIELDS = ("ssm_cfg", "mamba_d_state", "linear_attn_config", "block_configs")
_TWO_STACKS = "Encoder and decoder are both counted for every token: a token is one source position with one target position."


def read_hf_config(config: Mapping[str, object]) -> ModelShape:
    """Read the dimensions out of a ``config.json`` and count.

    Several field names are understood for each size; nulls count as absent; what the file leaves unsaid follows the family's published
    code, or, for an unknown family, what the fields suggest, and is listed in ``assumptions``. Of multimodal models only the text part is
    read. Weights are counted unquantised.

    Raises:
        WorkloadError: a field has a wrong type or size, a needed one is missing, or the architecture cannot be counted. ``pointer``
            names the field.
    """
    if not isinstance(config, Mapping):
        raise WorkloadError(pointer=PLACE, code="wrong_type", detail="Paste the whole config.json here, as a JSON object.")
    outer = Fields(config, PLACE)
    said: list[str] = []
    fields, nested = _text_part(outer)
    architecture = _first_class(outer)
    model_type = fields.text("model_type") or outer.text("model_type")
    _refuse_uncountable(fields, (model_type, outer.text("model_type"), architecture))
    known = family_name(model_type, architecture)
    family = _UNKNOWN if known is None else FAMILIES[known]
    if known is None:
        kind = (model_type or architecture or "without a name")[:60]
        said.append(f"Architecture {kind!r} is not known: its fields are read by their usual names.")
        family = _guess(fields)
    if nested:
        said.append("Only the text part of the model is counted.")
        family = replace(family, defaults={**NESTED_DEFAULTS.get(known or "", {}), **family.defaults})
    tied = _tied(outer, fields, family, known, said)
    if outer.has("quantization_config", "quantization") or fields.has("quantization_config"):
        said.append("The quantisation block is left aside: weights are counted as they are before quantisation.")
    if fields.integer("num_nextn_predict_layers", "num_mtp_modules", most=MAX_LAYERS, least=0):
        said.append("The extra layers that predict further tokens are left out.")
    dimensions = _read(fields, family, known, tied=tied, said=said)
    counts = count(dimensions)
    if counts.total > MAX_PARAMETERS:
        detail = f"These dimensions make {counts.total:.3g} parameters; at most {MAX_PARAMETERS:g} can be estimated. Check the sizes."
        raise WorkloadError(pointer=PLACE, code="out_of_range", detail=detail)
    name = (fields.text("_name_or_path") or outer.text("_name_or_path") or model_type or architecture or "pasted configuration")[:80]
    return shape_of(name, dimensions, source="pasted config.json", assumptions=tuple(said))


def _refuse_uncountable(fields: Fields, names: tuple[str | None, ...]) -> None:
    """Refuse models whose layers the dimensions cannot hold: better no answer than a wrong one."""
    layers = fields.items("layer_types") or ()
    marked = any(name is not None and uncountable(name) for name in names)
    if marked or any(uncountable_layer(kind) for kind in layers) or fields.has(*_UNCOUNTABLE_FIELDS):
        name = next((name for name in names if name), "without a name")
        detail = (
            f"Models of the kind {name[:60]!r} have layers that cannot be counted here (state space, linear or sparse attention, shared or "
            "uneven layers). Give parameters_b and what you know of its dimensions instead of hf_config."
        )
        raise WorkloadError(pointer=f"{PLACE}/model_type", code="unsupported_architecture", detail=detail)


def _text_part(outer: Fields) -> tuple[Fields, bool]:
    """The part of the file that describes the language model, and whether it is nested."""
    for name in _TEXT_PARTS:
        part = outer.nested(name)
        if part is not None:
            inner = part.nested("text_config")
            return (part if inner is None else inner), True
    return outer, False


def _first_class(outer: Fields) -> str | None:
    names = outer.items("architectures")
    if not names:
        return None
    if not isinstance(names[0], str):
        raise WorkloadError(pointer=f"{PLACE}/architectures/0", code="wrong_type", detail="architectures must hold class names, as texts.")
    return names[0]


def _tied(outer: Fields, fields: Fields, family: Family, known: str | None, said: list[str]) -> bool:
    names = ("tie_word_embeddings", "weight_tying")
    stated = fields.flag(*names)
    if stated is None:
        stated = outer.flag(*names)
    if stated is not None:
        return stated
    if known is None:
        said.append("tie_word_embeddings not given: two separate matrices are assumed.")
    return family.tied


def _guess(fields: Fields) -> Family:
    """Habits of an unknown family, from the kind of fields it has."""
    image = fields.has("patch_size") and fields.has("image_size") and not fields.has("vocab_size")
    if image:
        return FAMILIES["vit"]
    if fields.has("d_kv", "relative_attention_num_buckets") and fields.has("d_model"):
        return FAMILIES["t5"]
    if fields.has("encoder_layers") and fields.has("decoder_layers"):
        return FAMILIES["bart"]
    if fields.has("type_vocab_size") and fields.flag("is_decoder") is not True:
        return FAMILIES["bert"]
    return _UNKNOWN


def _read(fields: Fields, family: Family, known: str | None, *, tied: bool, said: list[str]) -> Dimensions:
    if family.reading == "t5":
        return _t5(fields, family, tied=tied, said=said)
    if family.reading == "two_stacks":
        return _two_stacks(fields, family, known, tied=tied, said=said)
    if family.reading == "image":
        return _image(fields, family, said=said)
    sizes = read_sizes(fields, family, known, said)
    dimensions = dimensions_of(fields, family, known, sizes, tied=tied, said=said)
    dimensions = replace(dimensions, experts=experts_of(fields, family, sizes))
    if dimensions.experts is not None and dimensions.experts.layers == dimensions.layers:
        dimensions = replace(dimensions, ffn_size=dimensions.experts.ffn_size)
    window, share = window_of(fields, family, sizes)
    dimensions = replace(dimensions, sliding_window=window, sliding_share=share)
    if family.reading == "encoder":
        types = fields.integer("type_vocab_size", most=MAX_VOCABULARY, least=0)
        types = (0 if known == "distilbert" else 2) if types is None else types
        pooler = 0 if known in {"distilbert", "electra"} else pooler_weights(sizes.hidden)
        return replace(dimensions, extra_parameters=pooler, extra_embedding=types * sizes.hidden)
    return dimensions


def _t5(fields: Fields, family: Family, *, tied: bool, said: list[str]) -> Dimensions:
    """T5 and its kin: a second stack as deep unless said, inner width heads·d_kv, one table of relative biases a stack."""
    sizes = read_sizes(fields, family, "t5", said)
    said.append(_TWO_STACKS)
    decoder = fields.integer("num_decoder_layers", most=MAX_LAYERS) or sizes.layers
    buckets = fields.integer("relative_attention_num_buckets", most=MAX_POSITIONS) or 32
    projection = fields.text("feed_forward_proj") or "relu"
    return Dimensions(
        layers=sizes.layers,
        hidden_size=sizes.hidden,
        attention_heads=sizes.heads,
        kv_heads=sizes.heads,
        head_dim=sizes.head_dim,
        ffn_size=sizes.ffn,
        vocabulary_size=sizes.vocabulary,
        tied_embeddings=tied,
        gated_mlp=projection.startswith("gated"),
        norm="rmsnorm",
        final_norms=2,
        decoder_layers=decoder,
        extra_parameters=relative_position_weights(buckets, sizes.heads, stacks=2),
        max_position=sizes.positions,
        causal=False,
    )


def _two_stacks(fields: Fields, family: Family, known: str | None, *, tied: bool, said: list[str]) -> Dimensions:
    """Whisper, BART and their kin: biased layers, learned positions on both sides."""
    sizes = read_sizes(fields, family, known, said)
    said.append(_TWO_STACKS)
    decoder = fields.integer("decoder_layers", "num_decoder_layers", most=MAX_LAYERS) or sizes.layers
    dimensions = dimensions_of(fields, family, known, sizes, tied=tied, said=said)
    if known == "whisper":
        mels = fields.integer("num_mel_bins", most=MAX_POSITIONS) or 80
        frames = fields.integer("max_source_positions", most=MAX_POSITIONS) or 1500
        return replace(
            dimensions,
            decoder_layers=decoder,
            key_bias=False,
            final_norms=2,
            extra_parameters=audio_stem_weights(sizes.hidden, mels),
            extra_embedding=frames * sizes.hidden,
        )
    return replace(dimensions, decoder_layers=decoder, final_norms=0, extra_embedding=dimensions.learned_positions * sizes.hidden)


def _image(fields: Fields, family: Family, *, said: list[str]) -> Dimensions:
    """ViT: patches of a square image and one class token."""
    size = fields.integer("image_size", most=MAX_WIDTH) or 224
    patch = fields.integer("patch_size", most=MAX_WIDTH) or 16
    channels = fields.integer("num_channels", most=MAX_WIDTH) or 3
    if patch > size:
        raise WorkloadError(
            pointer=f"{PLACE}/patch_size", code="out_of_range", detail=f"A patch of {patch} pixels does not fit into an image of {size}."
        )
    classes = fields.integer("num_labels", "num_classes", most=MAX_VOCABULARY)
    if classes is None:
        labels = fields.nested("id2label")
        classes = 1000 if labels is None else max(1, labels.size)
        if labels is None:
            said.append("Number of classes not given: 1,000 are assumed.")
    positions = (size // patch) ** 2 + 1
    sizes = read_sizes(fields, replace(family, defaults={"vocabulary_size": 0}), "vit", said)
    said.append(f"A token is one image patch or the class token; a sample is one image of {positions} tokens.")
    parts = attention_parts(fields, family, said)
    return Dimensions(
        layers=sizes.layers,
        hidden_size=sizes.hidden,
        attention_heads=sizes.heads,
        kv_heads=sizes.heads,
        head_dim=sizes.head_dim,
        ffn_size=sizes.ffn,
        vocabulary_size=0,
        tied_embeddings=False,
        gated_mlp=False,
        norm="layernorm",
        qkv_bias=parts.qkv_bias,
        o_bias=True,
        mlp_bias=True,
        lm_head_bias=True,
        head_outputs=classes,
        learned_positions=positions,
        extra_parameters=patch_stem_weights(sizes.hidden, patch, channels),
        extra_embedding=sizes.hidden,
        max_position=positions,
        causal=False,
    )
