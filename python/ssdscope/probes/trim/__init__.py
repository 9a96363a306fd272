"""How much faster random writes are after half of the drive was discarded."""
