"""Makes app/data from a folder of facts: read, judge by rule, write sorted CSV. ``python -m tools.make_data FACTS_DIR``."""
