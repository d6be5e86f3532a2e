"""Mail: headers and texts in their encodings, parts, what is attached, and mailboxes."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.documents import links


def parsed(data: bytes, key: str = "harbour-fees.eml") -> Document:
    return parser_of("mail")(Source(key, f"/root/{key}", data))


def message(text: str = "The fee is 40 crowns.\n", **heads: str) -> EmailMessage:
    made = EmailMessage()
    for name, value in {"Subject": "Fees", "From": "Änne Roe <anne@example.org>", **heads}.items():
        made[name] = value
    made.set_content(text)
    return made


def boxed(*messages: bytes) -> bytes:
    return b"".join(b"From anne@example.org Thu May  2 12:00:00 2024\n" + each + b"\n" for each in messages)


def test_a_message_begins_with_who_wrote_and_keeps_the_reply_that_it_quotes() -> None:
    date = "Thu, 02 May 2024 12:00:00 +0200"
    found = parsed(message("It is 40.\n\n> What is it?\n", To="Bob <bob@example.org>", Date=date).as_bytes())

    assert found.title == "Fees"
    assert found.metadata == {
        "from": "Änne Roe <anne@example.org>",
        "to": "Bob <bob@example.org>",
        "date": "2024-05-02T12:00:00+02:00",
    }
    assert found.text.split("\n\n") == [
        "From: Änne Roe <anne@example.org>\nTo: Bob <bob@example.org>\nDate: 2024-05-02T12:00:00+02:00",
        "It is 40.",
        "> What is it?",
    ]


def test_of_alternatives_the_plain_text_is_read_and_files_are_named() -> None:
    made = message()
    made.add_alternative("<p>The fee is <b>41</b> crowns.</p>", subtype="html")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="tarif été.pdf")
    made.add_attachment("kept apart", filename="notes.txt")

    text = parsed(made.as_bytes()).text

    assert text.endswith("The fee is 40 crowns.\n\nAttachments: tarif été.pdf, notes.txt")


def test_a_page_is_read_where_there_is_no_plain_text() -> None:
    made = message("\n")
    made.add_alternative("<h2>Fees</h2><p>The <a href='fees.html'>fee</a> is 41&nbsp;€.</p>", subtype="html")

    found = parsed(made.as_bytes())

    assert found.text.endswith("Fees\n\nThe fee is 41\xa0€.")
    assert links(found) == [("fees.html", "fee")]


def test_a_message_in_a_message_stands_after_its_own_headers() -> None:
    made = message("See below.\n", Subject="Fwd")
    made.add_attachment(message(Subject="The fees"))

    text = parsed(made.as_bytes()).text

    assert text.endswith("See below.\n\nSubject: The fees\nFrom: Änne Roe <anne@example.org>\n\nThe fee is 40 crowns.")


@pytest.mark.parametrize(
    ("data", "title", "end"),
    [
        (b"Subject: =?gb2312?B?xOO6ww==?= x\n\ntext", "你好 x", "text"),
        (b"Subject: =?utf-8?Q?caf=C3?=\n =?utf-8?Q?=A9_noir?=\n\ntext", "café noir", "text"),
        (b"Subject: J\xfcrgen\n\ntext", "Jürgen", "text"),
        (b"Subject: \xf0\xd2\xc9\nContent-Type: text/plain; charset=koi8-r\n\n\xd7\xc5\xd4", "При", "вет"),
        ("Subject: Jürgen\n\ntext".encode(), "Jürgen", "text"),
        (b"Subject: =?utf-8?b?!!!\n\ntext", "=?utf-8?b?!!!", "text"),
        (b"Subject: a\nContent-Type: text/plain; charset=cp850\n\n\x81ber", "a", "über"),
        (b"Subject: a\nContent-Type: text/plain; charset=utf-7\n\nHi +AOk-", "a", "Hi é"),
        (b"Subject: a\nContent-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B$3\x1b(B", "a", "こ"),
        (b"Subject: a\nContent-Type: text/plain; charset=us-ascii\n\nn\xe9", "a", "né"),
        (b"Subject: a\nContent-Type: text/plain; charset=no-such\n\nn\xc3\xa9", "a", "né"),
        (
            b"Subject: a\nContent-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-16\n\n//5hAA==",
            "a",
            "a",
        ),
        (b"Subject: a\nDate: never\n\ntext", "a", "text"),
    ],
)
def test_texts_are_read_in_the_encodings_that_they_are_in(data: bytes, title: str, end: str) -> None:
    found = parsed(data)

    assert found.title == title
    assert found.text.endswith(end)


def test_each_message_of_a_mailbox_is_a_section_under_its_subject() -> None:
    second = message("From here on it is 41.\n\nFrom: nobody\n", Subject="The new fees")
    page = message("\n", Subject="A page")
    page.add_alternative("<h1>Fees</h1><p>It is 42.</p>", subtype="html")

    messages = [message().as_bytes(), second.as_bytes().replace(b"\nFrom here", b"\n>From here"), page.as_bytes()]
    found = parsed(boxed(*messages), "old-mail.mbox")

    headings = [(found.text[block.start : block.end], block.level) for block in found.blocks if block.level]
    assert headings == [("Fees", 1), ("The new fees", 1), ("A page", 1), ("Fees", 2)]
    assert (found.title, found.apart) == ("old mail", True)
    assert "\n\nFrom here on it is 41.\n\nFrom: nobody\n\n" in found.text


def test_a_message_of_a_mailbox_that_is_malformed_is_named_and_the_others_are_read() -> None:
    deep = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (at, at) for at in range(2_000))
    secret = b"Subject: Secret\nContent-Type: multipart/encrypted; boundary=b\n\n--b--\n"

    found = parsed(boxed(message().as_bytes(), deep, secret), "a.mbox")

    assert "The fee is 40 crowns." in found.text
    assert found.warnings == (
        "has a message, the 2th, which is nested too deeply",
        "has an encrypted message, the 3th, whose text isn't read",
    )


def test_what_apple_mail_and_browsers_save_is_read() -> None:
    data = message().as_bytes()

    found = parsed(b"%d\n%s<?xml version='1.0'?><plist/>" % (len(data), data), "1.emlx")

    assert found.text.endswith("The fee is 40 crowns.")
    assert parsed(data, "a.mht").text == "The fee is 40 crowns."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"Subject: a\n\n", "has no text"),
        (b"Subject: a\nContent-Type: application/pkcs7-mime\n\nMIAG", "is encrypted"),
    ],
)
def test_a_message_without_a_text_is_unreadable(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parsed(data)
