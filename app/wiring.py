"""The one place where the parts are put together, for the API and the command line alike."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime

from app.api.caching import written
from app.api.names import Cards
from app.api.reading import read_estimate, read_question
from app.api.view import MarketView
from app.api.wire_answer import RecommendationOut
from app.api.wire_estimate import EstimateIn, EstimateOut
from app.api.wire_request import RecommendIn
from app.catalog.columns import market_from_records
from app.catalog.embedded import load_embedded
from app.catalog.loader import load_knowledge
from app.domain.estimate import estimate
from app.domain.fx import ExchangeError
from app.domain.knowledge import Knowledge
from app.domain.recommend import recommend
from app.domain.request import Preferences, RecommendRequest
from app.domain.workload import Architecture, ModelSpec, TargetSpec, WorkloadSpec

_PREPARED = ("USD", "CNY")
_CACHED_BYTES = 32_000_000
EMBEDDED_VERSION = 0
"""``catalog_version`` of answers from the shipped data set without a database."""


def start_of_day(now: datetime) -> datetime:
    """Midnight UTC of ``now``: the instant that "today" means, so that a question asked twice a day gets the same bytes."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Advice:
    """An answer as bytes, with its key and the question that it answers."""

    id: str
    catalog_version: int
    question: str
    body: bytes


class Advisor:
    """Answers questions on a market and remembers the answers. Safe to use from several threads."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._answers: OrderedDict[tuple[int, datetime, str], Advice] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @classmethod
    def load(cls) -> Advisor:
        """With all shipped knowledge."""
        return cls(load_knowledge())

    @property
    def cards(self) -> Cards:
        """All known cards."""
        return Cards(tuple(sorted(self.knowledge.gpus)))

    def embedded_view(self, as_of: datetime) -> MarketView:
        """The shipped data set as of ``as_of``, without a database."""
        records = load_embedded()
        market = market_from_records(records, gpus=self.knowledge.gpus, as_of=as_of, catalog_version=EMBEDDED_VERSION)
        return MarketView(market, self.cards)

    def prepare(self, view: MarketView) -> None:
        """Work out what every answer on this market needs (prices an hour, fees, billing rules), so that no question has to wait for it."""
        for currency in _PREPARED:
            with contextlib.suppress(ExchangeError):
                recommend(_first_question(currency), market=view.market, knowledge=self.knowledge)

    def remembered(self, question: RecommendIn, view: MarketView) -> Advice | None:
        """The answer, if this question was asked on this market before."""
        key = _key(question, view)
        with self._lock:
            advice = self._answers.get(key)
            if advice is not None:
                self._answers.move_to_end(key)
            return advice

    def advise(self, question: RecommendIn, view: MarketView) -> Advice:
        """Work the answer out (pure CPU, some 100 ms): the same question on the same market gives the same bytes.

        Raises:
            InvalidRequestError: the question names something unknown.
            WorkloadError: the workload cannot be understood.
        """
        answer = self.recommend(question, view)
        return Advice(id=answer.id, catalog_version=view.market.catalog_version, question=_text(question), body=written(answer))

    def remember(self, question: RecommendIn, view: MarketView, advice: Advice) -> None:
        """Keep an answer for the next time; called once it is stored, so that what is remembered can always be fetched again."""
        key = _key(question, view)
        with self._lock:
            if key not in self._answers:
                self._answers[key] = advice
                self._bytes += len(advice.body)
            while self._bytes > _CACHED_BYTES:
                self._bytes -= len(self._answers.popitem(last=False)[1].body)

    def recommend(self, question: RecommendIn, view: MarketView) -> RecommendationOut:
        """The answer as a model, keyed by the digest of the question and of everything that is answered.

        Raises:
            InvalidRequestError: the question names something unknown.
            WorkloadError: the workload cannot be understood.
        """
        request, readings = read_question(question, view.vocabulary)
        found = recommend(request, market=view.market, knowledge=self.knowledge)
        parts = {name: getattr(found, name) for name in RecommendationOut.model_fields if hasattr(found, name)}
        answer = RecommendationOut.model_validate({**parts, "id": "", "read_as": list(readings)})
        digest = hashlib.sha256(_text(question).encode() + b"\n" + written(answer)).hexdigest()
        return answer.model_copy(update={"id": f"rec_{digest[:32]}"})

    def estimate(self, question: EstimateIn) -> EstimateOut:
        """Memory, speed and time of a workload on stated hardware.

        Raises:
            InvalidRequestError: the question names something unknown.
            WorkloadError: the workload cannot be understood.
        """
        spec, hardware = read_estimate(question, self.cards, self.knowledge.gpus)
        found = estimate(spec, hardware, question.configuration.pins(), knowledge=self.knowledge)
        return EstimateOut.model_validate(found)


def _first_question(currency: str) -> RecommendRequest:
    """A small question whose answer nobody sees."""
    model = ModelSpec(architecture=Architecture(parameters_b=1.0))
    workload = WorkloadSpec(model=model, method="lora", target=TargetSpec(tokens_b=0.001))
    return RecommendRequest(workload=workload, preferences=Preferences(currency=currency, limit=1))


def _text(question: RecommendIn) -> str:
    """The question in one canonical form: defaults filled in, keys sorted."""
    return json.dumps(question.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _key(question: RecommendIn, view: MarketView) -> tuple[int, datetime, str]:
    return (view.market.catalog_version, view.market.as_of, _text(question))
