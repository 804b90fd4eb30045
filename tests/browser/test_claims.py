"""The table of claims in a browser: its filter by mouse and by keyboard, without scripts, on a phone, in the dark, on paper."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.browser.accessibility import violations
from tests.browser.opened import every_scheme, opened
from tests.site.test_claims import ROWS, VERDICTS

COUNTS = Counter(row.parts[1] for row in ROWS)
SHOWN = """() => [...document.querySelectorAll('table.claims tbody tr')].filter((row) => row.checkVisibility())
    .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"""


@pytest.fixture
def claims(browser, site_url, request):
    """Return the opened page; a test's parameter holds options of the browser."""
    options = getattr(request, "param", {})
    with opened(browser, f"{site_url}/appendix/claims.html", inside=site_url, **options) as page:
        yield page


def shown(page) -> list[list[str]]:
    return page.evaluate(SHOWN)


def status(page) -> str:
    return page.get_by_role("status").inner_text()


def box(page, verdict: str):
    return page.locator("label", has=page.get_by_text(verdict, exact=True)).get_by_role("checkbox")


def test_all_claims_are_shown_at_first(claims):
    assert len(shown(claims)) == len(ROWS)
    assert [row[1] for row in shown(claims)] == [row.parts[1] for row in ROWS]
    assert status(claims) == f"All {len(ROWS)} claims are shown."
    assert claims.get_by_role("button", name="Show all").is_disabled()


def test_the_form_says_how_many_claims_have_each_verdict(claims):
    labels = claims.locator(".claims-filter label:has(input[type=checkbox])").all_inner_texts()
    assert [" ".join(label.split()) for label in labels] == [f"{verdict} {COUNTS[verdict]}" for verdict in VERDICTS]


def test_a_verdict_is_chosen_by_mouse(claims):
    for verdict in VERDICTS:
        claims.locator("label", has=claims.get_by_text(verdict, exact=True)).click()
        assert [row[1] for row in shown(claims)] == [verdict] * COUNTS[verdict]
        assert status(claims) == f"{COUNTS[verdict]} of {len(ROWS)} claims are shown: {verdict}."
        claims.get_by_role("button", name="Show all").click()
        assert len(shown(claims)) == len(ROWS)
        assert claims.evaluate("document.activeElement.id") == "claims-words", "the keyboard's place is lost with the button"


def test_two_verdicts_and_words_are_chosen_by_keyboard(claims):
    box(claims, "right").focus()
    for key in ["Tab", "Tab", "Space", "Tab", "Space", "Tab", "Tab"]:  # misleading, wrong, and on to the words
        claims.keyboard.press(key)
    both = COUNTS["misleading"] + COUNTS["wrong"]
    assert Counter(row[1] for row in shown(claims)) == {verdict: COUNTS[verdict] for verdict in ("misleading", "wrong")}
    assert status(claims) == f"{both} of {len(ROWS)} claims are shown: misleading or wrong."
    claims.keyboard.type("Gradient  TRAINING")
    found = shown(claims)
    wanted = [row for row in ROWS if row.parts[1] in ("misleading", "wrong") and all(word in " ".join(row.parts).lower() for word in ("gradient", "training"))]
    assert 0 < len(found) == len(wanted) < both
    assert all("gradient" in " ".join(row).lower() and "training" in " ".join(row).lower() for row in found)
    claims.keyboard.press("Enter")
    assert len(shown(claims)) == len(found), "Enter must not send the form away"
    assert status(claims) == f"{len(found)} of {len(ROWS)} claims are shown: misleading or wrong, with “Gradient TRAINING”."
    claims.keyboard.press("Tab")
    claims.keyboard.press("Enter")  # Show all
    assert len(shown(claims)) == len(ROWS)


def test_words_are_found_however_they_are_typed(claims):
    for typed, some in [("nadaraya-watson", "Nadaraya–Watson"), ("QUERY—KEY", "query–key"), ("epanechikov", "Epanechikov")]:
        claims.get_by_label("With the words").fill(typed)
        assert len(shown(claims)) == sum(some.lower() in " ".join(row.parts).lower() for row in ROWS) > 0, typed


def test_a_section_without_a_chosen_claim_says_so(claims):
    claims.get_by_label("With the words").fill("no claim has these words")
    assert shown(claims) == []
    assert status(claims).startswith(f"0 of {len(ROWS)} claims are shown")
    sections = claims.locator("section:has(> .claims-none)")
    assert sections.count() == len({row.section for row in ROWS})
    for section in sections.all():
        assert section.locator(".claims-none").is_visible() and not section.locator("table").is_visible()
    claims.get_by_label("With the words").fill("")
    assert claims.locator(".claims-none").locator("visible=true").count() == 0


def test_one_claim_is_said_in_the_singular(claims):
    row = next(row for row in ROWS if "unsupervised" in row.parts[0])
    claims.get_by_label("With the words").fill(row.parts[0])
    assert [found[0] for found in shown(claims)] == [row.parts[0]]
    assert status(claims).startswith(f"1 of {len(ROWS)} claims is shown")


@pytest.mark.parametrize("claims", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_the_whole_table_stands_and_no_dead_form(claims):
    assert claims.locator("table.claims tbody tr").locator("visible=true").count() == len(ROWS)
    assert not claims.locator(".claims-filter").is_visible() and not claims.locator(".claims-shown").is_visible()
    assert claims.locator(".claims-none").locator("visible=true").count() == 0


@pytest.mark.parametrize("claims", [{"viewport": {"width": size, "height": 800}} for size in (320, 375, 600)], indirect=True)
def test_on_a_phone_each_row_is_a_card_with_labelled_parts(claims):
    faults = claims.evaluate("""() => [...document.querySelectorAll('table.claims tbody tr')].flatMap((row) => {
        const boxes = [...row.cells].map((cell) => cell.getBoundingClientRect());
        const stacked = boxes.every((box, i) => !i || box.top >= boxes[i - 1].bottom - 1);
        const labels = [...row.cells].map((cell) => getComputedStyle(cell, '::before').content.split('"')[1]);
        const wide = [...row.querySelectorAll('*')].some((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth);
        const scrolls = row.scrollWidth > row.clientWidth;
        const fine = stacked && !wide && !scrolls && labels.join() === 'Claim,Verdict,What is so,Evidence';
        return fine ? [] : [[row.textContent.slice(0, 60), stacked, wide, scrolls, labels.join()]];
    })""")
    assert not faults, faults[:5]
    assert claims.evaluate("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth")
    frames = claims.evaluate("[...document.querySelectorAll('.pst-scrollable-table-container')].filter((e) => e.scrollWidth > e.clientWidth).length")
    assert frames == 0, "a table scrolls sideways"


@pytest.mark.parametrize("claims", [{"viewport": {"width": size, "height": 800}} for size in (320, 1280)], indirect=True)
def test_controls_are_large_enough_for_a_finger(claims):
    small = claims.evaluate("""() => [...document.querySelectorAll('.claims-filter :is(label:has(input), input[type=search], button)')]
        .map((e) => [e.textContent.trim(), e.getBoundingClientRect()]).filter(([, box]) => box.width < 24 || box.height < 24)""")
    assert not small


@every_scheme
@pytest.mark.parametrize("width", [375, 1280])
def test_filtered_it_has_no_accessibility_violation(browser, site_url, scheme, width):
    options = {"color_scheme": scheme, "bypass_csp": True, "viewport": {"width": width, "height": 900}}
    with opened(browser, f"{site_url}/appendix/claims.html", inside=site_url, **options) as page:
        box(page, "wrong").check()
        page.get_by_label("With the words").fill("kernel")
        assert 0 < len(shown(page)) < COUNTS["wrong"]
        faults = violations(page)
        assert not faults, "\n".join(faults[:12])


def test_a_verdict_is_told_by_a_sign_as_well_as_by_its_colour(claims):
    signs, colours = claims.evaluate("""() => {
        const marks = [...document.querySelectorAll('.claims-filter .verdict')];
        return [marks.map((e) => getComputedStyle(e, '::before').content), marks.map((e) => getComputedStyle(e).color)];
    }""")
    assert len(set(signs)) == len(set(colours)) == len(VERDICTS)


def test_paper_holds_the_rows_that_are_shown_and_says_which(claims):
    """What was filtered out is not wanted on paper either; the line of the status says that rows are missing, and which."""
    claims.emulate_media(media="print")
    assert len(shown(claims)) == len(ROWS)
    assert not claims.locator(".claims-filter").is_visible()
    claims.emulate_media(media="screen")
    box(claims, "wrong").check()
    claims.emulate_media(media="print")
    assert [row[1] for row in shown(claims)] == ["wrong"] * COUNTS["wrong"]
    assert claims.locator(".claims-shown").is_visible() and not claims.locator(".claims-filter").is_visible()
    with_some = list(dict.fromkeys(row.section.replace("*", "") for row in ROWS if row.parts[1] == "wrong"))
    assert claims.locator("article section > h2").locator("visible=true").all_inner_texts() == with_some, "an empty section would be printed"
    assert status(claims) == f"{COUNTS['wrong']} of {len(ROWS)} claims are shown: wrong."


def test_paper_cuts_no_row_apart(claims):
    claims.emulate_media(media="print")
    assert claims.evaluate("""[...document.querySelectorAll('table.claims tr')].every((row) => getComputedStyle(row).breakInside === 'avoid')""")
    assert claims.evaluate("""[...document.querySelectorAll('table.claims')].every((table) => getComputedStyle(table).breakInside === 'auto')""")


def test_its_script_is_on_this_page_only(browser, site_url):
    with opened(browser, f"{site_url}/appendix/notation.html", inside=site_url) as page:
        assert page.locator("script[src*='claims'], link[href*='claims.css'], .claims-filter").count() == 0
