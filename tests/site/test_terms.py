"""One word for one thing, and one value for one kernel: `appendix/notation.md` is the list, and this holds the book to it.

The words in its column "not" and the misspellings it names stand on no page, quotations excepted.
The kernel values in its table are those of its formulas, of the Python package and of the JavaScript of the explorer.
"""

from __future__ import annotations

import json
import math
import re

import pytest

from attention_pooling.kernels import KERNELS
from tests.conftest import ROOT
from tests.site.page_lines import Line, page_lines

NOTATION = (ROOT / "appendix" / "notation.md").read_text(encoding="utf-8")
ESTIMATOR = ROOT / "attention_pooling" / "static" / "estimator.js"
WORDS = ROOT / "attention_pooling" / "static" / "words.json"


def table(after: str) -> list[dict[str, str]]:
    """Return the rows of the first table that follows the text `after`, as dictionaries by column."""
    lines = NOTATION.split(after, 1)[1].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    head, _, *body = rows
    return [dict(zip(head, row, strict=True)) for row in body]


# Words

TERMS = {word.strip(): row["term"] for row in table("<!-- table: terms -->") for word in row["not"].split(",")}
MISSPELT = re.search(r"The misspellings (\w+), (\w+) and (\w+) are", NOTATION).groups()
# "width" for the bandwidth; half-width and bandwidth are words of ours, and *width* or "width" is a quotation.
WIDTH = re.compile(r"(?<![\w-])widths?(?![\w=-])", re.IGNORECASE)


def pattern(word: str) -> re.Pattern:
    """Return the pattern of a term in singular or plural, its parts joined by a space or a hyphen."""
    return re.compile(r"(?<![\w-])" + r"[\s-]+".join(map(re.escape, word.split())) + r"s?(?!\w)", re.IGNORECASE)


PATTERNS = [(pattern(word), f"the book says {term!r}") for word, term in TERMS.items()]
PATTERNS += [(re.compile(word, re.IGNORECASE), "misspelt") for word in MISSPELT]
PATTERNS += [(WIDTH, "the book says 'bandwidth', 'half-width', 'spread' or 'wide'")]


def faults(line: Line) -> list[str]:
    """Return what a line says in other words than the book's."""
    text = line.text if line.code else re.sub(r'"[^"]*"|“[^”]*”|\*\w+\*', " ", line.text)
    return [f"{found[0]!r}: {instead}" for rejected, instead in PATTERNS if (found := rejected.search(text))]


def texts_of_the_explorer() -> list[Line]:
    def strings(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                yield from strings(part)

    return [Line(WORDS.name, text) for text in strings(json.loads(WORDS.read_text(encoding="utf-8")))]


def is_the_list(line: Line) -> bool:
    """Say whether a line is the part of the notation that names the rejected words."""
    rows = NOTATION.split("<!-- table: terms -->", 1)[1].strip().split("\n\n", 1)[0].splitlines()
    return line.where.startswith("appendix/notation.md") and (line.text in rows or line.text.startswith("The misspellings "))


def test_the_list_is_read():
    assert len(TERMS) >= 25 and TERMS["logit"] == "score"
    assert "Waston" in MISSPELT and "Epanechikov" in MISSPELT


def test_no_page_uses_a_rejected_word():
    lines = [line for line in page_lines() if not is_the_list(line)]
    found = [f"{line.where}: {fault}\n    {line.text.strip()}" for line in lines + texts_of_the_explorer() for fault in faults(line)]
    assert not found, "other words than notation.md's:\n  " + "\n  ".join(found)


@pytest.mark.parametrize("text", [
    "The logits are divided by it.", "a test-error of 2", "Nadaraya-Waston regression", "the Ground truth", "a kernel width of 2",
    "the width of the kernel", "Widths are learned.", "two length scales", "Epanechikov's kernel",
])  # fmt: skip
def test_other_words_are_refused(text):
    assert faults(Line("here", text))


@pytest.mark.parametrize("text", [
    "its half-width and its bandwidth", "the text calls it the *width*", 'drawn under the name "Epanechikov"', "logistic regression",
    "a wide window", "the latest errors", "truth", "its half-widths", "ten times the length; scales differ",
])  # fmt: skip
def test_our_words_are_accepted(text):
    assert not faults(Line("here", text))


# Kernel values

VALUES = table("<!-- table: kernel-values")
POINTS = [float(row["u"]) for row in VALUES]
DESCRIBED = {row["kernel"].strip("`"): row for row in table("## Kernel values")}
NAMES = list(DESCRIBED)


def evaluate(latex: str, u: float = math.nan) -> float:
    """Evaluate one of the few forms of formula that a kernel is written in.

    The translation knows nothing of the package: a formula that is misprinted on the page comes out wrong here.
    """
    if cases := re.fullmatch(r"\$(.*)\$ if \$(.*)\$, else \$(.*)\$", latex):
        return evaluate(cases[1] if evaluate(cases[2], u) else cases[3], u)
    text = latex.replace("$", "").replace(r"\,", "").replace("\\ ", "")
    for written, meant in ((r"\\t?frac\{(\d+)\}\{(\d+)\}", r"(\1/\2)*"), (r"\\t?frac(\d)(\d)", r"(\1/\2)*"), (r"\\sqrt(\d)", r"sqrt(\1)"),
                           (r"\\mathbf\{1\}\[(.*?)\]", r"float(\1)"), (r"e\^\{(.*?)\}", r"exp(\1)"), (r"\\le\b", "<="), (r"\\max", "max"),
                           (r"\^", "**")):  # fmt: skip
        text = re.sub(written, meant, text)
    assert not re.search(r"[\\{}$]", text), f"cannot read the formula {latex!r}: {text!r}"
    return eval(text, {"__builtins__": {}}, {"u": u, "exp": math.exp, "sqrt": math.sqrt, "max": max, "float": float})


@pytest.fixture(scope="module")
def in_javascript(browser):
    """Return what the explorer's script, as it is shipped, says of its kernels."""
    page = browser.new_page()
    found = page.evaluate(
        """async ([source, points]) => {
          const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          const { kernels } = await import(address);
          return Object.fromEntries(Object.entries(kernels).map(([name, { profile, support, spread }]) =>
            [name, { values: points.map(profile), support: String(support), spread: String(spread) }]));
        }""",
        [ESTIMATOR.read_text(encoding="utf-8"), POINTS],
    )
    page.close()
    return found


def test_all_three_know_the_same_kernels(in_javascript):
    assert NAMES == list(KERNELS) == list(in_javascript) == list(VALUES[0])[1:]


@pytest.mark.parametrize("name", NAMES)
def test_table_holds_the_values_of_the_formula(name):
    for row in VALUES:
        value = evaluate(DESCRIBED[name]["formula"], float(row["u"]))
        assert abs(float(row[name]) - value) <= 0.5e-8 + 1e-15, f"notation.md, {name} at u = {row['u']}: {row[name]}, and by its formula {value:.10f}"


@pytest.mark.parametrize("name", NAMES)
def test_formula_python_and_javascript_agree(name, in_javascript):
    for u, javascript in zip(POINTS, in_javascript[name]["values"], strict=True):
        formula, docstring = evaluate(DESCRIBED[name]["formula"], u), evaluate(KERNELS[name].formula, u)
        python = float(KERNELS[name].profile(u))
        said = {"the formula of KERNELS": docstring, "Python": python, "JavaScript": javascript}
        for who, value in said.items():
            assert math.isclose(value, formula, rel_tol=1e-15, abs_tol=0), f"{name} at u = {u}: {formula} by the formula in notation.md, {value} in {who}"


@pytest.mark.parametrize("name", NAMES)
def test_reach_and_spread_agree(name, in_javascript):
    beyond, spread = DESCRIBED[name]["zero beyond"], DESCRIBED[name][next(c for c in DESCRIBED[name] if c.startswith("standard"))]
    reach = math.inf if beyond == "never" else float(re.fullmatch(r"\$u = (\d+)\$", beyond)[1])
    assert reach == KERNELS[name].support == float(in_javascript[name]["support"])
    wide = math.inf if spread == "none" else evaluate(spread)
    python = KERNELS[name].standard_deviation
    assert math.isclose(wide, math.inf if python is None else python, rel_tol=1e-15)
    assert math.isclose(wide, float(in_javascript[name]["spread"]), rel_tol=1e-15)


@pytest.mark.parametrize("latex, u, value", [
    (r"$e^{-u^2/2}$", 2.0, math.exp(-2)), (r"\mathbf{1}[u \le 1]", 1.0, 1), (r"$1$ if $u \le 1$, else $0$", 1.5, 0),
    (r"\tfrac34 \max(0,\ 1 - u^2)", 0.5, 0.5625), (r"$1/\sqrt5$", 0, 5**-0.5),
])  # fmt: skip
def test_formulas_are_read(latex, u, value):
    assert math.isclose(evaluate(latex, u), value, rel_tol=1e-15)
