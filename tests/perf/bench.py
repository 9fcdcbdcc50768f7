"""What an answer costs: ``python -m tests.perf.bench``, or ``make bench``.

Prints the number of candidate plans, the processor time of a question that was never asked before (cold) and of one that was (warm), the
time to load a catalogue of 100,000 offers, and the memory of the process that answers.

Cold means: market and knowledge are in memory, the question is new; each repetition asks for another number of tokens, so that nothing
remembered can help. The figures are medians. ``perf_counter`` is wall time, ``process_time`` is processor time over all threads.
"""

from __future__ import annotations

import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from app.api.wire_request import RecommendIn
from app.clock import utc_now
from app.wiring import Advisor, start_of_day
from tests.perf.load_bench import measure_load

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "7b-full.json"
TIMES_COLD = 15
TIMES_WARM = 200
ROWS = 100_000


def question(*, more: int) -> RecommendIn:
    """A full fine-tune over all purchase options on 1 to 64 GPUs, with the default limit; ``more`` makes it one never asked before."""
    asked = json.loads((ROOT / "examples" / QUESTION).read_text())
    return RecommendIn.model_validate({"workload": {**asked["workload"], "target": {"tokens_b": 1.0 + more / 1000}}})


def medians(work: Callable[[int], object], times: int) -> tuple[float, float]:
    """Median wall and processor time of ``work(0) … work(times - 1)``, in milliseconds."""
    wall, processor = [], []
    for turn in range(times):
        wall_start, processor_start = time.perf_counter(), time.process_time()
        work(turn)
        processor.append((time.process_time() - processor_start) * 1e3)
        wall.append((time.perf_counter() - wall_start) * 1e3)
    return statistics.median(wall), statistics.median(processor)


def memory_mb() -> tuple[float, float]:
    """Resident memory now and at its highest, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Measures and prints."""
    started = time.perf_counter()
    advisor = Advisor.load()
    view = advisor.embedded_view(start_of_day(utc_now()))
    market = view.market
    ready = time.perf_counter() - started

    answer = json.loads(advisor.advise(question(more=0), view).body)
    cold = medians(lambda turn: advisor.advise(question(more=1 + turn), view), TIMES_COLD)
    advisor.remember(question(more=1), view, advisor.advise(question(more=1), view))
    warm = medians(lambda _: advisor.remembered(question(more=1), view) or _unremembered(), TIMES_WARM)
    now, highest = memory_mb()

    print(f"market      {len(market.offers):,} offers, {len(market.tariffs):,} tariffs in force, ready {ready:.2f} s after start")
    print(f"candidates  {answer['candidates']:,} plans, {len(answer['plans'])} shown")
    print(f"cold        {cold[1]:.0f} ms of processor time, {cold[0]:.0f} ms by the clock (median of {TIMES_COLD})")
    print(f"warm        {warm[1]:.2f} ms of processor time, {warm[0]:.2f} ms by the clock (median of {TIMES_WARM})")
    print(f"memory      {now:.0f} MB resident, {highest:.0f} MB at its highest")
    print(f"catalogue   {ROWS:,} offers with a tariff each load from SQLite in {measure_load(ROWS):.2f} s")


def _unremembered() -> object:
    msg = "a question asked before was not remembered"
    raise AssertionError(msg)


if __name__ == "__main__":
    main()
