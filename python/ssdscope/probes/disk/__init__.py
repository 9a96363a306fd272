"""Whether it is a hard disk, and what turns, moves (`arm`) and is kept (`cache`) in it.

Engines: `turn`, when a place comes round again; `tracks`, where they end; `held`, what is kept.
"""
