"""The full-text analyser that texts choose."""

from __future__ import annotations

import pytest

from pipeline.text.languages import analyzer_for

GERMAN = "Der Leuchtturm steht seit dem Jahr 1871 auf der Insel und wurde von einem Baumeister aus der Stadt entworfen."


@pytest.mark.parametrize(
    ("text", "analyzer"),
    [
        ("The lighthouse has stood on the island since 1871 and was designed by a builder from the town.", "english"),
        (GERMAN, "german"),
        ("白鸥嘴灯塔位于鹭湖口，由工程师沈柏年主持修建，光绪年间落成。", "cjk"),
        ("浮月荘は湖のほとりに建てられた木造の旅館である。", "cjk"),
        ("북쪽 마을의 도서관에서는 음악회를 연다.", "cjk"),
        ("Маяк стоит на острове с 1871 года, его построил мастер из соседнего города.", "russian"),
        ("บนแหลมเหนือมีประภาคารเก่าที่สร้างเมื่อร้อยปีก่อน", "thai"),
        ("تقع المدرسة القديمة في وسط المدينة وقد بنيت في القرن الماضي.", "arabic"),
        ("def add(one, other):\n    return one + other", "english"),
        ("", "english"),
    ],
)
def test_texts_choose_the_analyser_of_their_language(text: str, analyzer: str) -> None:
    assert analyzer_for([text]) == analyzer


def test_the_language_of_most_texts_counts() -> None:
    english = "The lighthouse has stood on the island since 1871."

    assert analyzer_for([english, GERMAN, GERMAN, GERMAN, GERMAN, GERMAN, GERMAN]) == "german"
    assert analyzer_for([GERMAN, english, english, english, english, english, english]) == "english"
