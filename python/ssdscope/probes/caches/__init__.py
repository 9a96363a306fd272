"""The read cache: bytes, unit, and what is fetched ahead (`ahead`, with the engine `ending`)."""
