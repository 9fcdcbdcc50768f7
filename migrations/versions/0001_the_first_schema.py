"""The first schema

Revision ID: 0001
Revises: 
Create Date: 2026-11-30 22:45:19.881208

"""
from typing import Sequence, Union

from alembic import op
import sqlalchemy as sa
import sqlmodel


revision: str = '0001'
down_revision: Union[str, Sequence[str], None] = None
branch_labels: Union[str, Sequence[str], None] = None
depends_on: Union[str, Sequence[str], None] = None


def upgrade() -> None:
    """Upgrade schema."""
    op.create_table('catalog',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('version', sa.BigInteger(), nullable=False),
    sa.Column('moved_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('seed_digest', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.CheckConstraint('id = 1', name=op.f('ck_catalog_single')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_catalog'))
    )
    op.execute("INSERT INTO catalog (id, version) VALUES (1, 0)")
    op.create_table('collect_run',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('slot', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('token', sa.BigInteger(), nullable=True),
    sa.Column('started_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('finished_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('outcome', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('observations', sa.Integer(), nullable=False),
    sa.Column('rejections', sa.Integer(), nullable=False),
    sa.Column('rows_written', sa.Integer(), nullable=False),
    sa.Column('pages', sa.JSON(), nullable=False),
    sa.Column('detail', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('code_version', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_collect_run'))
    )
    with op.batch_alter_table('collect_run', schema=None) as batch_op:
        batch_op.create_index('ix_collect_run_provider_started_at', ['provider', 'started_at'], unique=False)

    op.create_table('evidence',
    sa.Column('id', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('url', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('digest', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('etag', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('last_modified', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('content_type', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('fetched_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('body', sa.LargeBinary(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_evidence')),
    sa.UniqueConstraint('provider', 'url', 'digest', name=op.f('uq_evidence_provider_url_digest'))
    )
    op.create_table('offer',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('region', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('sku', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('gpus_per_node', sa.Integer(), nullable=False),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retired_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_offer')),
    sa.UniqueConstraint('provider', 'region', 'sku', 'gpus_per_node', name=op.f('uq_offer_provider_region_sku_gpus_per_node'))
    )
    op.create_table('price_reading',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('digest', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('region', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('sku', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('gpu', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('gpus_per_node', sa.Integer(), nullable=False),
    sa.Column('option', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('amount_nano', sa.BigInteger(), nullable=False),
    sa.Column('currency', sa.CHAR(length=3), nullable=False),
    sa.Column('source', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.CheckConstraint('amount_nano > 0', name=op.f('ck_price_reading_amount')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_price_reading')),
    sa.UniqueConstraint('digest', name=op.f('uq_price_reading_digest'))
    )
    with op.batch_alter_table('price_reading', schema=None) as batch_op:
        batch_op.create_index('ix_price_reading_provider_day', ['provider', 'day'], unique=False)

    op.create_table('recommendation',
    sa.Column('id', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('catalog_version', sa.BigInteger(), nullable=False),
    sa.Column('created_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('request', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('body', sa.LargeBinary(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_recommendation'))
    )
    op.create_table('schedule',
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('next_due', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('lease_until', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('owner', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('token', sa.BigInteger(), nullable=False),
    sa.Column('failures', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('provider', name=op.f('pk_schedule'))
    )
    op.create_table('source',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('url', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_source')),
    sa.UniqueConstraint('name', 'url', name=op.f('uq_source_name_url'))
    )
    op.create_table('billing_rule',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('source_id', sa.Integer(), nullable=False),
    sa.Column('date_precision', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('evidence', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('option', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('step_seconds', sa.Integer(), nullable=False),
    sa.Column('minimum_seconds', sa.Integer(), nullable=False),
    sa.CheckConstraint('step_seconds > 0 AND minimum_seconds >= 0', name=op.f('ck_billing_rule_seconds')),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_billing_rule_interval')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_billing_rule_run_id_collect_run')),
    sa.ForeignKeyConstraint(['source_id'], ['source.id'], name=op.f('fk_billing_rule_source_id_source')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_billing_rule'))
    )
    with op.batch_alter_table('billing_rule', schema=None) as batch_op:
        batch_op.create_index('ix_billing_rule_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index(batch_op.f('ix_billing_rule_provider'), ['provider'], unique=False)
        batch_op.create_index('uq_billing_rule_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('fee',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('source_id', sa.Integer(), nullable=False),
    sa.Column('date_precision', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('evidence', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('region', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('kind', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('sku', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('unit', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('amount_nano', sa.BigInteger(), nullable=True),
    sa.Column('currency', sa.CHAR(length=3), nullable=True),
    sa.Column('tier_from_gb', sa.Float(), nullable=False),
    sa.Column('tier_to_gb', sa.Float(), nullable=True),
    sa.Column('free_gb', sa.Float(), nullable=False),
    sa.CheckConstraint('(amount_nano IS NULL) = (currency IS NULL)', name=op.f('ck_fee_currency')),
    sa.CheckConstraint('amount_nano >= 0', name=op.f('ck_fee_amount')),
    sa.CheckConstraint('tier_to_gb > tier_from_gb', name=op.f('ck_fee_tier')),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_fee_interval')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_fee_run_id_collect_run')),
    sa.ForeignKeyConstraint(['source_id'], ['source.id'], name=op.f('fk_fee_source_id_source')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fee'))
    )
    with op.batch_alter_table('fee', schema=None) as batch_op:
        batch_op.create_index('ix_fee_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index(batch_op.f('ix_fee_provider'), ['provider'], unique=False)
        batch_op.create_index('uq_fee_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('fx_rate',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('base', sa.CHAR(length=3), nullable=False),
    sa.Column('quote', sa.CHAR(length=3), nullable=False),
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('rate', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('source', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_fx_rate_interval')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_fx_rate_run_id_collect_run')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fx_rate'))
    )
    with op.batch_alter_table('fx_rate', schema=None) as batch_op:
        batch_op.create_index('ix_fx_rate_day_base_quote', ['day', 'base', 'quote'], unique=False)
        batch_op.create_index('ix_fx_rate_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index('uq_fx_rate_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('offer_shape',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('offer_id', sa.BigInteger(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('country', sa.CHAR(length=2), nullable=True),
    sa.Column('gpu', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('gpu_memory_gb', sa.Float(), nullable=False),
    sa.Column('vcpus', sa.Float(), nullable=True),
    sa.Column('ram_gb', sa.Float(), nullable=True),
    sa.Column('local_nvme_gb', sa.Float(), nullable=True),
    sa.Column('intra_node_link', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('inter_node_gbit_s', sa.Float(), nullable=True),
    sa.Column('maximum_nodes', sa.Integer(), nullable=True),
    sa.Column('upstream', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('component', sa.Boolean(), nullable=False),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.CheckConstraint('gpu_memory_gb > 0', name=op.f('ck_offer_shape_memory')),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_offer_shape_interval')),
    sa.ForeignKeyConstraint(['offer_id'], ['offer.id'], name=op.f('fk_offer_shape_offer_id_offer')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_offer_shape_run_id_collect_run')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_offer_shape'))
    )
    with op.batch_alter_table('offer_shape', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_offer_shape_gpu'), ['gpu'], unique=False)
        batch_op.create_index('ix_offer_shape_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index('uq_offer_shape_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('provider',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('name', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('kind', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('homepage', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('name_zh', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_provider_interval')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_provider_run_id_collect_run')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_provider'))
    )
    with op.batch_alter_table('provider', schema=None) as batch_op:
        batch_op.create_index('ix_provider_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index('uq_provider_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('quarantine',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('scope', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('reason', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('pointer', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('detail', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('evidence', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('first_seen_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('last_seen_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('resolved_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('resolved_by', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_quarantine_run_id_collect_run')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_quarantine'))
    )
    with op.batch_alter_table('quarantine', schema=None) as batch_op:
        batch_op.create_index('ix_quarantine_provider_last_seen_at', ['provider', 'last_seen_at'], unique=False)
        batch_op.create_index('uq_quarantine_open', ['provider', 'reason', 'pointer'], unique=True, sqlite_where=sa.text('resolved_at IS NULL'), postgresql_where=sa.text('resolved_at IS NULL'))

    op.create_table('quota',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('source_id', sa.Integer(), nullable=False),
    sa.Column('date_precision', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('evidence', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('scope', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('code', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('name', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('gpu_family', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('unit', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('default_amount', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('approval', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_quota_interval')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_quota_run_id_collect_run')),
    sa.ForeignKeyConstraint(['source_id'], ['source.id'], name=op.f('fk_quota_source_id_source')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_quota'))
    )
    with op.batch_alter_table('quota', schema=None) as batch_op:
        batch_op.create_index('ix_quota_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index(batch_op.f('ix_quota_provider'), ['provider'], unique=False)
        batch_op.create_index('uq_quota_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('stock',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('source_id', sa.Integer(), nullable=False),
    sa.Column('date_precision', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('evidence', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('offer_id', sa.BigInteger(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('status', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_stock_interval')),
    sa.ForeignKeyConstraint(['offer_id'], ['offer.id'], name=op.f('fk_stock_offer_id_offer')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_stock_run_id_collect_run')),
    sa.ForeignKeyConstraint(['source_id'], ['source.id'], name=op.f('fk_stock_source_id_source')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_stock'))
    )
    with op.batch_alter_table('stock', schema=None) as batch_op:
        batch_op.create_index('ix_stock_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index(batch_op.f('ix_stock_offer_id'), ['offer_id'], unique=False)
        batch_op.create_index('uq_stock_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))

    op.create_table('tariff',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), nullable=False),
    sa.Column('key', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('valid_from', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('valid_to', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('closed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('recorded_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    sa.Column('retracted_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('run_id', sa.BigInteger(), nullable=True),
    sa.Column('observed_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('checked_at', sqlmodel.sql.sqltypes.UTCDateTime(), nullable=True),
    sa.Column('source_id', sa.Integer(), nullable=False),
    sa.Column('date_precision', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('evidence', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('note', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('offer_id', sa.BigInteger(), nullable=False),
    sa.Column('provider', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('option', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('amount_nano', sa.BigInteger(), nullable=False),
    sa.Column('currency', sa.CHAR(length=3), nullable=False),
    sa.Column('unit', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('term_unit', sqlmodel.sql.sqltypes.AutoString(), nullable=True),
    sa.Column('term_count', sa.Integer(), nullable=True),
    sa.Column('upfront', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.Column('minimum_gpus', sa.Integer(), nullable=False),
    sa.Column('kind', sqlmodel.sql.sqltypes.AutoString(), nullable=False),
    sa.CheckConstraint('amount_nano > 0', name=op.f('ck_tariff_amount')),
    sa.CheckConstraint('minimum_gpus > 0', name=op.f('ck_tariff_minimum_gpus')),
    sa.CheckConstraint('term_unit IS NOT NULL OR term_count IS NULL', name=op.f('ck_tariff_term')),
    sa.CheckConstraint('valid_to > valid_from', name=op.f('ck_tariff_interval')),
    sa.ForeignKeyConstraint(['offer_id'], ['offer.id'], name=op.f('fk_tariff_offer_id_offer')),
    sa.ForeignKeyConstraint(['run_id'], ['collect_run.id'], name=op.f('fk_tariff_run_id_collect_run')),
    sa.ForeignKeyConstraint(['source_id'], ['source.id'], name=op.f('fk_tariff_source_id_source')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tariff'))
    )
    with op.batch_alter_table('tariff', schema=None) as batch_op:
        batch_op.create_index('ix_tariff_key_valid_from', ['key', 'valid_from'], unique=False)
        batch_op.create_index(batch_op.f('ix_tariff_offer_id'), ['offer_id'], unique=False)
        batch_op.create_index('uq_tariff_open', ['key'], unique=True, sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))



def downgrade() -> None:
    """Downgrade schema."""
    with op.batch_alter_table('tariff', schema=None) as batch_op:
        batch_op.drop_index('uq_tariff_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index(batch_op.f('ix_tariff_offer_id'))
        batch_op.drop_index('ix_tariff_key_valid_from')

    op.drop_table('tariff')
    with op.batch_alter_table('stock', schema=None) as batch_op:
        batch_op.drop_index('uq_stock_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index(batch_op.f('ix_stock_offer_id'))
        batch_op.drop_index('ix_stock_key_valid_from')

    op.drop_table('stock')
    with op.batch_alter_table('quota', schema=None) as batch_op:
        batch_op.drop_index('uq_quota_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index(batch_op.f('ix_quota_provider'))
        batch_op.drop_index('ix_quota_key_valid_from')

    op.drop_table('quota')
    with op.batch_alter_table('quarantine', schema=None) as batch_op:
        batch_op.drop_index('uq_quarantine_open', sqlite_where=sa.text('resolved_at IS NULL'), postgresql_where=sa.text('resolved_at IS NULL'))
        batch_op.drop_index('ix_quarantine_provider_last_seen_at')

    op.drop_table('quarantine')
    with op.batch_alter_table('provider', schema=None) as batch_op:
        batch_op.drop_index('uq_provider_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index('ix_provider_key_valid_from')

    op.drop_table('provider')
    with op.batch_alter_table('offer_shape', schema=None) as batch_op:
        batch_op.drop_index('uq_offer_shape_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index('ix_offer_shape_key_valid_from')
        batch_op.drop_index(batch_op.f('ix_offer_shape_gpu'))

    op.drop_table('offer_shape')
    with op.batch_alter_table('fx_rate', schema=None) as batch_op:
        batch_op.drop_index('uq_fx_rate_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index('ix_fx_rate_key_valid_from')
        batch_op.drop_index('ix_fx_rate_day_base_quote')

    op.drop_table('fx_rate')
    with op.batch_alter_table('fee', schema=None) as batch_op:
        batch_op.drop_index('uq_fee_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index(batch_op.f('ix_fee_provider'))
        batch_op.drop_index('ix_fee_key_valid_from')

    op.drop_table('fee')
    with op.batch_alter_table('billing_rule', schema=None) as batch_op:
        batch_op.drop_index('uq_billing_rule_open', sqlite_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'), postgresql_where=sa.text('valid_to IS NULL AND retracted_at IS NULL'))
        batch_op.drop_index(batch_op.f('ix_billing_rule_provider'))
        batch_op.drop_index('ix_billing_rule_key_valid_from')

    op.drop_table('billing_rule')
    op.drop_table('source')
    op.drop_table('schedule')
    op.drop_table('recommendation')
    with op.batch_alter_table('price_reading', schema=None) as batch_op:
        batch_op.drop_index('ix_price_reading_provider_day')

    op.drop_table('price_reading')
    op.drop_table('offer')
    op.drop_table('evidence')
    with op.batch_alter_table('collect_run', schema=None) as batch_op:
        batch_op.drop_index('ix_collect_run_provider_started_at')

    op.drop_table('collect_run')
    op.drop_table('catalog')
