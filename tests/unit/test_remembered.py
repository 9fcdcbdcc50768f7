from __future__ import annotations

from app.domain.remembered import Remembered


def test_work_is_done_once_for_the_same_arguments() -> None:
    memory: Remembered[list[int]] = Remembered()
    market = [1]
    assert memory.get((market, "CNY"), lambda: [7]) is memory.get((market, "CNY"), lambda: [8])


def test_equal_but_different_arguments_are_not_confused() -> None:
    memory: Remembered[int] = Remembered()
    memory.get(([1],), lambda: 7)
    assert memory.get(([1],), lambda: 8) == 8


def test_another_currency_is_another_question() -> None:
    memory: Remembered[int] = Remembered()
    market = [1]
    memory.get((market, "CNY"), lambda: 7)
    assert memory.get((market, "USD"), lambda: 8) == 8
