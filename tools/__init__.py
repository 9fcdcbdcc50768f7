"""Scripts of the house: run by make, imported by nothing."""
