"""A company is named only in a sentence that cites a source, a sentence being a line of the page's source."""

from __future__ import annotations

import re

import pytest

from tests.site.page_lines import Line, cited_keys, page_lines

# Companies and those of their services that stand for them; names of models and papers (BERT, DIN) are not companies.
COMPANIES = """
    Adobe, Airbnb, Alibaba, Amazon, Anthropic, Apple, Baidu, ByteDance, Criteo, DeepMind, DeepSeek, Douyin, Etsy, Facebook,
    Google, Huawei, Hugging Face, IBM, Instagram, Intel, JD.com, Kuaishou, LinkedIn, Meituan, Meta, Microsoft, Mistral,
    Netflix, NVIDIA, OpenAI, Pinterest, Qualcomm, Salesforce, Samsung, Spotify, Taobao, Tencent, Tesla, TikTok, Tmall, Twitter,
    Uber, Waymo, WeChat, Weixin, Yahoo, Yandex, YouTube
"""
NAMES = sorted((name.strip() for name in COMPANIES.replace("\n", " ").split(",")), key=len, reverse=True)
SPELLINGS = [re.escape(spelling) for name in NAMES for spelling in dict.fromkeys((name, name.upper(), name.title()))]
# Whole words with a capital: "Meta" is a company; "meta", "Metadata" and "Meta-analysis" are none.
COMPANY = re.compile(rf"(?<!\w)(?:{'|'.join(SPELLINGS)})(?!\w)(?!(?<=Meta)-)")


def companies(text: str) -> list[str]:
    """Return the companies that a sentence names; keys of citations, addresses and comments are no names."""
    return COMPANY.findall(re.sub(r"\{cite[^`]*`[^`]*`|https?://\S+|\]\([^)]*\)|<!--.*?-->", " ", text))


SENTENCES = [line for line in page_lines() if companies(line.text)]


def faults(line: Line) -> list[str]:
    return [] if cited_keys(line.text) else companies(line.text)


@pytest.mark.parametrize("line", SENTENCES, ids=lambda line: f"{line.where}: {', '.join(companies(line.text))}")
def test_sentence_with_a_company_cites_its_source(line):
    named = ", ".join(faults(line))
    assert not named, f"{line.where} names {named} without a citation in the same line: add the citation, or leave the name out:\n  {line.text.strip()}"


def test_the_sentences_are_found():
    assert len({line.where.split("#")[0] for line in SENTENCES}) >= 4, "the boxes with published facts are on at least four pages: has their form changed?"


@pytest.mark.parametrize("text, named", [
    ("NVIDIA ships a filter {cite:p}`nvidia_cudasamples_denoising`.", []),
    ("Google's announcement.", ["Google"]),
    ("GOOGLE and YouTube", ["GOOGLE", "YouTube"]),
    ("> In a box, Meta says so.", ["Meta"]),
    ("Meta's metadata; a Google-scale index, at ex-Google speed", ["Meta", "Google", "Google"]),
    ("Metadata, Meta-analysis, an appleseed, deep-mind, interest", []),
    ("Read {cite:p}`googlebert_code` at https://Google.com", []),
])  # fmt: skip
def test_names_are_recognised(text, named):
    assert faults(Line("here", text)) == named
