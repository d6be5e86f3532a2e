"""Texts without a label in the encodings of the world."""

from __future__ import annotations

import codecs
import hashlib

import pytest

from pipeline.errors import SourceError
from pipeline.ingest.sources.parsers.encodings import decoded_text

FRENCH = "Le phare a été rénové l'année dernière, « dit-on », et l'on y sert du bœuf où dînaient les élèves. "
RUSSIAN = "Корабль второй экспедиции был построен на верфи, и никто не знал, кто заплатил за плавание. "
JAPANESE = "船は朝早く港を出て、東の島へ向かった。だれも船賃を払わなかったと、古い手紙に書いてある。"
CHINESE = "第二次探险的船是在上海的船厂建造的，没有人知道谁支付了这次航行的费用，直到发现了一封旧信。"
POLISH = "Książka leży na półce, gdzie ją położyłeś. Święta będą śnieżne, a łódź stoi w porcie. "


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (FRENCH, "cp1252", "Windows-1252"),
        (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8_r", "KOI8-R"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (CHINESE, "gb18030", "GB18030"),
        (POLISH, "cp1250", "Windows-1250"),
        (FRENCH, "utf-16-le", "UTF-16"),
        (RUSSIAN, "utf-16-be", "UTF-16"),
        (f"{JAPANESE}\n", "utf-16-le", "UTF-16"),
    ],
)
def test_a_text_is_read_in_the_encoding_that_it_is_most_like(text: str, codec: str, name: str) -> None:
    for size in (1, 3):
        assert decoded_text((text * size).encode(codec)) == (text * size, f"isn't UTF-8, and is read as {name}")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_what_says_its_encoding_is_no_guess(codec: str) -> None:
    assert decoded_text(FRENCH.encode(codec)) == (FRENCH, "")


def test_short_texts_are_read() -> None:
    for word, codec in (("naïve", "cp1252"), ("é", "cp1252"), ("1 €", "cp1252"), ("Łódź", "cp1250"), ("кот", "cp1251")):
        assert decoded_text(word.encode(codec))[0] == word


def test_a_few_damaged_bytes_cost_themselves_alone() -> None:
    text, warning = decoded_text((FRENCH * 2).encode() + b"\xe9 lost")

    assert text == f"{FRENCH * 2}\N{REPLACEMENT CHARACTER} lost"
    assert warning == "has bytes that aren't UTF-8, and can't be read"


@pytest.mark.parametrize("size", [200, 3_000, 60_000])
def test_what_is_no_text_is_refused(size: int) -> None:
    noise = b"".join(hashlib.sha256(b"%d" % part).digest() for part in range(size // 32))

    for data in (noise, noise.replace(b"\x00", b"\x01"), bytes(byte | 0x80 for byte in noise), b"\x89PNG\r\n" + noise):
        with pytest.raises(SourceError, match=r"is binary|isn't valid UTF-8"):
            decoded_text(data)


def test_nothing_is_still_empty() -> None:
    for data in (b" \n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE):
        with pytest.raises(SourceError, match="is empty"):
            decoded_text(data)
