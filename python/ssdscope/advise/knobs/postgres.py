"""PostgreSQL."""

from ssdscope.advise.facts import KNEE, Facts, doublings
from ssdscope.advise.knobs.knob import Knob, Worked
from ssdscope.advise.streams import KIB, random_reads

PAGE_BYTES = 8 * KIB
CONCURRENCY, MOST_CONCURRENCY = 1, 1000


def _concurrency(facts: Facts) -> Worked:
    text = f"queue-depth knee {facts.number(KNEE):.4g}"
    return Worked(min(MOST_CONCURRENCY, facts.depth), text)


KNOBS = (
    Knob(
        "postgres",
        "effective_io_concurrency",
        (KNEE,),
        "the queue-depth knee, 1 to 1000",
        _concurrency,
        lambda _facts, value: f"ALTER SYSTEM SET effective_io_concurrency = {value};",
        default=CONCURRENCY,
        product="PostgreSQL 15",
        stream=lambda _facts, value: random_reads(PAGE_BYTES, value),
        candidates=lambda _facts, _formula: (*doublings(1, 512), MOST_CONCURRENCY),
        typed_in="psql",
        at_most="for bitmap scans of tables that are not in RAM",
    ),
)
