"""The database: tables, what writes them and what reads them."""
