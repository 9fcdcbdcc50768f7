"""The tables. Facts are kept as intervals: an unchanged reading adds no row, a change closes one row and opens another.

Every dated table has the same time columns (``Dated``) and a ``key``: the natural key of the record as text (see keys.py), of which at most
one row is open. Money is ``*_nano`` (10^-9 of the currency's unit) and a currency; exact decimals that are not money are text, since SQLite
would keep them as floats. Datetimes are plain ``datetime`` fields, which SQLModel stores as UTC and refuses when naive.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar, cast

from sqlalchemy import (
    CHAR,
    JSON,
    BigInteger,
    CheckConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    inspect,
    text,
)
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

_REGISTRY = registry(
    metadata=MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
)
METADATA = _REGISTRY.metadata
_BIG_ID: Any = BigInteger().with_variant(Integer(), "sqlite")
_OPEN = "valid_to IS NULL AND retracted_at IS NULL"


class Base(SQLModel, registry=_REGISTRY):
    """All tables share one registry with a naming convention, so that migrations can name every constraint."""


class Dated(Base):
    """Columns of a fact that holds over an interval.

    ``valid_from`` None: always as far as known. ``valid_to`` None: open. ``closed_at``: when ``valid_to`` was written. ``recorded_at``
    and ``retracted_at``: from when to when we believed it. ``observed_at``: first reading of this value, as dated by its source;
    ``checked_at``: latest reading that found it unchanged; both None when the source states no date.
    """

    id: int | None = Field(default=None, primary_key=True, sa_type=_BIG_ID)
    key: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    closed_at: datetime | None = None
    recorded_at: datetime
    retracted_at: datetime | None = None
    run_id: int | None = Field(default=None, sa_type=BigInteger, foreign_key="collect_run.id")
    observed_at: datetime | None = None
    checked_at: datetime | None = None


class Sourced(Dated):
    """Columns of a fact that names where it was read."""

    source_id: int = Field(foreign_key="source.id")
    date_precision: str
    evidence: str | None = None
    note: str = ""


def _dated(name: str, *more: Any) -> tuple[Any, ...]:
    """Constraints and indexes of a dated table."""
    where = text(_OPEN)
    return (
        Index(f"uq_{name}_open", "key", unique=True, sqlite_where=where, postgresql_where=where),
        Index(f"ix_{name}_key_valid_from", "key", "valid_from"),
        CheckConstraint("valid_to > valid_from", name="interval"),
        *more,
    )


class ProviderRow(Dated, table=True):
    """A platform; ``key`` is its id."""

    __tablename__: ClassVar[Any] = "provider"
    __table_args__ = _dated("provider")
    provider: str
    name: str
    kind: str
    homepage: str
    name_zh: str = ""


class OfferRow(Base, table=True):
    """Identity of a thing for rent; its figures are in ``offer_shape``. Never updated but for ``retired_at``."""

    __tablename__: ClassVar[Any] = "offer"
    __table_args__ = (UniqueConstraint("provider", "region", "sku", "gpus_per_node"),)
    id: int | None = Field(default=None, primary_key=True, sa_type=_BIG_ID)
    provider: str
    region: str
    sku: str
    gpus_per_node: int
    recorded_at: datetime
    retired_at: datetime | None = None


class OfferShapeRow(Dated, table=True):
    """What an offer consists of; ``key`` is the offer's."""

    __tablename__: ClassVar[Any] = "offer_shape"
    __table_args__ = _dated("offer_shape", CheckConstraint("gpu_memory_gb > 0", name="memory"))
    offer_id: int = Field(sa_type=BigInteger, foreign_key="offer.id")
    provider: str
    country: str | None = Field(default=None, sa_type=cast("Any", CHAR(2)))
    gpu: str = Field(index=True)
    gpu_memory_gb: float
    vcpus: float | None = None
    ram_gb: float | None = None
    local_nvme_gb: float | None = None
    intra_node_link: str
    inter_node_gbit_s: float | None = None
    maximum_nodes: int | None = None
    upstream: str | None = None
    component: bool
    note: str = ""


class TariffRow(Sourced, table=True):
    """The price of one node of an offer for one unit, under one purchase option."""

    __tablename__: ClassVar[Any] = "tariff"
    __table_args__ = _dated(
        "tariff",
        CheckConstraint("amount_nano > 0", name="amount"),
        CheckConstraint("minimum_gpus > 0", name="minimum_gpus"),
        CheckConstraint("term_unit IS NOT NULL OR term_count IS NULL", name="term"),
    )
    offer_id: int = Field(sa_type=BigInteger, foreign_key="offer.id", index=True)
    provider: str
    option: str
    amount_nano: int = Field(sa_type=BigInteger)
    currency: str = Field(sa_type=cast("Any", CHAR(3)))
    unit: str
    term_unit: str | None = None
    term_count: int | None = None
    upfront: str
    minimum_gpus: int
    kind: str


class FeeRow(Sourced, table=True):
    """A fee tier. ``amount_nano`` None: there is a charge, its figure is unknown; 0 is a stated zero."""

    __tablename__: ClassVar[Any] = "fee"
    __table_args__ = _dated(
        "fee",
        CheckConstraint("amount_nano >= 0", name="amount"),
        CheckConstraint("(amount_nano IS NULL) = (currency IS NULL)", name="currency"),
        CheckConstraint("tier_to_gb > tier_from_gb", name="tier"),
    )
    provider: str = Field(index=True)
    region: str
    kind: str
    sku: str
    unit: str
    amount_nano: int | None = Field(default=None, sa_type=BigInteger)
    currency: str | None = Field(default=None, sa_type=cast("Any", CHAR(3)))
    tier_from_gb: float
    tier_to_gb: float | None = None
    free_gb: float


class QuotaRow(Sourced, table=True):
    """What a new account may rent. ``default_amount`` is a decimal as text, None when unknown."""

    __tablename__: ClassVar[Any] = "quota"
    __table_args__ = _dated("quota")
    provider: str = Field(index=True)
    scope: str
    code: str
    name: str
    gpu_family: str
    unit: str
    default_amount: str | None = None
    approval: str


class StockRow(Sourced, table=True):
    """What a provider says about the availability of an offer; ``key`` is the offer's."""

    __tablename__: ClassVar[Any] = "stock"
    __table_args__ = _dated("stock")
    offer_id: int = Field(sa_type=BigInteger, foreign_key="offer.id", index=True)
    provider: str
    status: str


class BillingRuleRow(Sourced, table=True):
    """How a provider meters time. ``option`` None: every purchase option."""

    __tablename__: ClassVar[Any] = "billing_rule"
    __table_args__ = _dated("billing_rule", CheckConstraint("step_seconds > 0 AND minimum_seconds >= 0", name="seconds"))
    provider: str = Field(index=True)
    option: str | None = None
    step_seconds: int
    minimum_seconds: int


class RateRow(Dated, table=True):
    """One unit of ``base`` in ``quote`` on ``day``, as published; ``rate`` is a decimal as text."""

    __tablename__: ClassVar[Any] = "fx_rate"
    __table_args__ = _dated("fx_rate", Index("ix_fx_rate_day_base_quote", "day", "base", "quote"))
    base: str = Field(sa_type=cast("Any", CHAR(3)))
    quote: str = Field(sa_type=cast("Any", CHAR(3)))
    day: date
    rate: str
    source: str


class PriceReadingRow(Base, table=True):
    """One dated reading of a price per GPU-hour from an archive, for plots and drift. ``digest`` of the whole record makes it unique."""

    __tablename__: ClassVar[Any] = "price_reading"
    __table_args__ = (
        Index("ix_price_reading_provider_day", "provider", "day"),
        CheckConstraint("amount_nano > 0", name="amount"),
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=_BIG_ID)
    digest: str = Field(unique=True)
    day: date
    provider: str
    region: str
    sku: str
    gpu: str
    gpus_per_node: int
    option: str
    amount_nano: int = Field(sa_type=BigInteger)
    currency: str = Field(sa_type=cast("Any", CHAR(3)))
    source: str
    note: str = ""
    recorded_at: datetime


class SourceRow(Base, table=True):
    """Where figures are read: name and address."""

    __tablename__: ClassVar[Any] = "source"
    __table_args__ = (UniqueConstraint("name", "url"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    url: str


class EvidenceRow(Base, table=True):
    """One version of a fetched page. ``body`` is zlib-compressed and may be pruned; ``digest`` (SHA-256 of the plain body) stays."""

    __tablename__: ClassVar[Any] = "evidence"
    __table_args__ = (UniqueConstraint("provider", "url", "digest"),)
    id: str = Field(primary_key=True)
    provider: str
    url: str
    digest: str
    etag: str | None = None
    last_modified: str | None = None
    content_type: str | None = None
    fetched_at: datetime
    body: bytes | None = Field(default=None, sa_type=LargeBinary)


class CollectRunRow(Base, table=True):
    """One attempt to collect a provider. ``slot`` is the due time it served, ``token`` the lease it ran under."""

    __tablename__: ClassVar[Any] = "collect_run"
    __table_args__ = (Index("ix_collect_run_provider_started_at", "provider", "started_at"),)
    id: int | None = Field(default=None, primary_key=True, sa_type=_BIG_ID)
    provider: str
    slot: datetime | None = None
    token: int | None = Field(default=None, sa_type=BigInteger)
    started_at: datetime
    finished_at: datetime | None = None
    outcome: str
    observations: int = 0
    rejections: int = 0
    rows_written: int = 0
    pages: list[str] = Field(default_factory=list, sa_type=JSON)
    detail: str = ""
    code_version: str


class QuarantineRow(Base, table=True):
    """A record or a batch that was refused, with the reason; seen again, only ``last_seen_at`` moves."""

    __tablename__: ClassVar[Any] = "quarantine"
    __table_args__ = (
        Index("ix_quarantine_provider_last_seen_at", "provider", "last_seen_at"),
        Index(
            "uq_quarantine_open",
            "provider",
            "reason",
            "pointer",
            unique=True,
            sqlite_where=text("resolved_at IS NULL"),
            postgresql_where=text("resolved_at IS NULL"),
        ),
    )
    id: int | None = Field(default=None, primary_key=True, sa_type=_BIG_ID)
    provider: str
    scope: str
    reason: str
    pointer: str
    detail: str
    evidence: str | None = None
    run_id: int | None = Field(default=None, sa_type=BigInteger, foreign_key="collect_run.id")
    first_seen_at: datetime
    last_seen_at: datetime
    resolved_at: datetime | None = None
    resolved_by: str | None = None


class CatalogRow(Base, table=True):
    """One row (id 1): the version that moves with everything published, and the digest of the embedded data last loaded."""

    __tablename__: ClassVar[Any] = "catalog"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)
    id: int = Field(default=1, primary_key=True)
    version: int = Field(sa_type=BigInteger)
    moved_at: datetime | None = None
    seed_digest: str | None = None


class ScheduleRow(Base, table=True):
    """One row a provider: when it is due, and who holds the lease."""

    __tablename__: ClassVar[Any] = "schedule"
    provider: str = Field(primary_key=True)
    next_due: datetime
    lease_until: datetime | None = None
    owner: str | None = None
    token: int = Field(default=0, sa_type=BigInteger)
    failures: int = 0


class RecommendationRow(Base, table=True):
    """A stored answer, byte for byte, with the request that it answers."""

    __tablename__: ClassVar[Any] = "recommendation"
    id: str = Field(primary_key=True)
    catalog_version: int = Field(sa_type=BigInteger)
    created_at: datetime
    request: str
    body: bytes = Field(sa_type=LargeBinary)


def table_of(model: type[Base]) -> Table:
    """The Core table of a model, for bulk work."""
    return cast("Table", inspect(model).local_table)
