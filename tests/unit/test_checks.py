"""What every check does, whatever it is given: three outcomes, no exception, an answer within two seconds."""

import ast
import json
import math
import threading
import time

import numpy as np
import pytest

from attention_pooling.checks import NOT_ATTEMPTED, NOT_YET, RIGHT, TASKS, _core, _exercises, check, hint
from attention_pooling.checks._limit import TimeIsUp, run_limited
from tests.conftest import ROOT

NAMES = [task.name for task in _exercises.TASKS]
FUNCTIONS = [task.name for task in _exercises.TASKS if task.cases is not None]
by_name = pytest.mark.parametrize("name", NAMES)


def cells(path):
    notebook = json.loads((ROOT / path).read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"}


PAGE = cells("exercises/exercises.ipynb")
SOLUTIONS = cells("solutions/exercises.ipynb")


def plain_check(source):
    """(name, expression) of a cell that is one call of `check`."""
    call = ast.parse(source).body[0].value
    return call.args[0].value, ast.unparse(call.args[1])


# The page

@by_name
def test_the_starter_of_the_page_is_not_attempted(name):
    namespace = {}
    exec(PAGE[f"start-{name}"], namespace)
    asked, answer = plain_check(PAGE[f"check-{name}"])
    assert asked == name
    result = check(name, eval(answer, namespace))
    assert result.outcome == NOT_ATTEMPTED and not result.passed
    assert result.mistake is None


@by_name
def test_the_page_has_a_hint_below_the_check(name):
    order = list(PAGE)
    assert order.index(f"hint-{name}") == order.index(f"check-{name}") + 1 == order.index(f"start-{name}") + 2
    assert PAGE[f"hint-{name}"] == f'hint("{name}")'


def test_the_page_has_no_check_beside_these():
    assert {key.removeprefix("check-") for key in PAGE if key.startswith("check-")} == set(NAMES)


@by_name
def test_the_solutions_assert_that_the_check_passes(name):
    cell = next(source for source in SOLUTIONS.values() if f'result = check("{name}", ' in source)
    assert "assert result.passed" in cell


# What a check says

@by_name
def test_three_hints_at_most_and_the_next_one_is_named(name):
    count = len(TASKS[name].hints)
    assert 1 <= count <= 3
    texts = [repr(hint(name, step)) for step in range(1, count + 1)]
    assert len(set(texts)) == count
    assert f'hint("{name}", 2)' in texts[0] and f"Hint {count} of {count}." in texts[-1]
    for beyond in (0, count + 1, "2", None):
        assert f"hints 1 to {count}" in repr(hint(name, beyond))


@by_name
def test_at_least_four_mistakes_are_known(name):
    task = TASKS[name]
    if task.judge is None:
        assert len({mistake.label for mistake in task.mistakes}) >= 4
    else:  # a judge's labels are counted where its wrong answers are listed
        assert not task.mistakes


@pytest.mark.parametrize(
    "name, mistake", [(task.name, mistake) for task in _exercises.TASKS for mistake in task.mistakes],
    ids=lambda part: getattr(part, "label", part),
)  # fmt: skip
def test_each_known_mistake_gets_its_own_message(name, mistake):
    result = check(name, mistake.wrong)
    assert (result.outcome, result.mistake) == (NOT_YET, mistake.label)
    assert " ".join(mistake.message.split()) in " ".join(result.message.split())


@by_name
def test_messages_are_plain_text_in_short_lines(name):
    task = TASKS[name]
    texts = [check(name, None), check(name, object()), hint(name), *(check(name, m.wrong) for m in task.mistakes)]
    for text in map(repr, texts):
        assert all(len(line) <= 90 for line in text.splitlines()), text
        assert " at 0x" not in text and "<function" not in text and "Traceback" not in text


def test_a_result_is_shown_as_its_message():
    result = check("memorisation", 0.5)
    assert repr(result) == result.message and result.message.startswith("Right: memorisation.")
    assert bool(result) is result.passed is True
    assert not hasattr(result, "_repr_html_")  # the page shows the text itself


@pytest.mark.parametrize("name, secrets", [
    ("descent", ["0.44", "0.82"]), ("memorisation", ["0.5", "½"]),
    ("count-parameters", ["1560", "1520", "128"]), ("slopes", ["0.25"]),
])  # fmt: skip
def test_a_wrong_number_does_not_bring_the_right_one_out(name, secrets):
    task = TASKS[name]
    fields = max(len(task.fields), 1)
    for guess in (0.0, 1.0, -3.0, 7.7, 1e9, math.nan):
        message = check(name, [guess] * fields).message
        assert not any(secret in message for secret in secrets), message


# Answers of every kind

NONSENSE = [
    "text", b"bytes", object(), {1, 2}, {"a": None, "b": 1}, [], [[1, 2], [3]], 1 + 2j, np.array("x"), math.nan,
    math.inf, int, print, lambda: 1, lambda *a: "text", lambda *a: object(), lambda *a: [[1], [2, 3]], lambda *a: [],
    lambda *a: np.array([]), lambda *a: np.full((2, 3, 4), math.nan), lambda *a: [None, 1.0], lambda *a: lambda: 1,
    np.zeros((3, 3)), range(5), Ellipsis, lambda *a, **k: {}, lambda *a: {"a": 1}, type("Odd", (), {"__call__": 3})(),
]  # fmt: skip


@by_name
@pytest.mark.parametrize("answer", NONSENSE, ids=lambda answer: type(answer).__name__)
def test_nonsense_is_never_right_and_never_raises(name, answer):
    result = check(name, answer)
    assert result.outcome in (NOT_YET, NOT_ATTEMPTED)
    assert isinstance(repr(result), str)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_not_implemented_is_not_attempted(name):
    def answer(*arguments):
        raise NotImplementedError

    assert check(name, answer).outcome == NOT_ATTEMPTED
    assert check(name, lambda *arguments: None).outcome == NOT_ATTEMPTED
    assert check(name, lambda *arguments: ...).outcome == NOT_ATTEMPTED


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_value_where_a_function_is_asked(name):
    result = check(name, 3.0)
    assert result.mistake == "not-a-function" and f'check("{name}", my_function)' in result.message


@pytest.mark.parametrize("name", [None, 3, "training gradient", "", ["descent"], "descnt"])
def test_an_unknown_name_is_answered(name):
    result = check(name, 1.0)
    assert result.mistake == "unknown-name" and "no check" in repr(result) and "no check" in repr(hint(name))
    if name == "descnt":
        assert 'Did you mean "descent"?' in result.message


def test_a_forgotten_name_or_answer_is_answered():
    result = check(lambda keys: keys)
    assert result.mistake == "unknown-name" and "a name in quotes" in " ".join(result.message.split())
    assert check("descent").outcome == NOT_ATTEMPTED


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("error", [
    ValueError("shapes (3,) and (4,) not aligned"), ZeroDivisionError("division by zero"), RecursionError(), MemoryError(),
    SystemExit(1), GeneratorExit(), AssertionError("mine\nsecond line"), type("Own", (BaseException,), {})("odd"),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_an_exception_is_named_with_its_line(name, error):
    def answer(*arguments):
        raise error

    result = check(name, answer)
    assert (result.outcome, result.mistake) == (NOT_YET, "exception")
    text = " ".join(result.message.split())
    assert type(error).__name__ in text and "`raise error`" in text
    assert str(ROOT) not in text


def test_a_forgotten_return_is_named(capsys):
    def prints(keys, values, bandwidth):
        gradient = bandwidth * np.mean(values)
        print(gradient)

    result = check("training-gradient", prints)
    assert result.outcome == "not yet" and result.mistake == "nothing-returned" and "`return`" in result.message


def test_other_arguments_than_asked():
    result = check("training-gradient", lambda keys, values: 0.0)
    assert result.mistake == "exception" and "Keep the arguments" in " ".join(result.message.split())


def test_stopping_the_kernel_stops_the_check():
    def answer(*arguments):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("exponent", answer)


def test_no_warning_and_no_error_state_reaches_the_reader(recwarn):
    with np.errstate(all="raise"):
        assert check("stable-weights", TASKS["stable-weights"].mistakes[0].wrong).mistake == "zero-by-zero"
    assert not recwarn.list


# Endless code

def spin(*arguments):
    while True:
        pass


def catch_exceptions(*arguments):
    while True:
        try:
            sum(range(100))
        except Exception:
            pass


def catch_everything(*arguments):
    while True:
        try:
            sum(range(100))
        except:  # noqa: E722
            pass


def endless_iterator(*arguments):
    def numbers():
        while True:
            yield 1.0

    return numbers()


def long_array_work(*arguments):
    while True:
        np.linalg.svd(np.ones((60, 60)))


ENDLESS = [spin, catch_exceptions, catch_everything, endless_iterator, long_array_work]


def judge_endless(answer):
    start = time.monotonic()
    result = check("exponent", answer)
    assert (result.outcome, result.mistake) == (NOT_YET, "no-end")
    return result.message, time.monotonic() - start


def test_a_check_of_endless_code_answers_within_two_seconds():
    message, seconds = judge_endless(spin)
    assert "still running after 1.5 seconds" in " ".join(message.split())
    assert seconds < 2


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(_core, "SECONDS", 0.2)


@pytest.mark.parametrize("answer", ENDLESS, ids=lambda answer: answer.__name__)
def test_endless_code_is_stopped_in_the_main_thread(answer, impatient):
    assert judge_endless(answer)[1] < 1.5


@pytest.mark.parametrize("answer", ENDLESS, ids=lambda answer: answer.__name__)
def test_endless_code_is_stopped_in_another_thread(answer, impatient):
    """The way taken on Windows, and in a kernel that runs cells outside the main thread."""
    seconds = []
    thread = threading.Thread(target=lambda: seconds.append(judge_endless(answer)[1]))
    thread.start()
    thread.join(20)
    assert not thread.is_alive() and seconds and seconds[0] < 1.5


def test_a_sleep_is_woken_in_the_main_thread():
    start = time.monotonic()
    with pytest.raises(TimeIsUp):
        run_limited(lambda: time.sleep(30), 0.1)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("in_thread", [False, True])
def test_what_ends_in_time_is_returned_and_nothing_comes_later(in_thread):
    results = []

    def work():
        for _ in range(50):
            results.append(run_limited(lambda: 7, 0.02))
        total = 0
        for number in range(2_000_000):  # long enough for a late interruption to arrive
            total += number

    if in_thread:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    else:
        work()
    assert results == [7] * 50


def test_a_timer_of_somebody_else_is_put_back():
    import signal

    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        assert run_limited(lambda: 1, 1) == 1
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        assert 50 < left <= 60
        signal.raise_signal(signal.SIGALRM)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Code that changes its inputs

def test_changed_inputs_do_not_reach_the_next_call_and_are_mentioned():
    def residuals(weights, values):
        own = np.diag(weights).copy()
        values -= weights @ values
        values /= 1 - own
        weights[:] = 0
        return values

    for _ in range(2):
        result = check("left-out-residuals", residuals)
        assert result.outcome == RIGHT
        assert "changes its argument `weights`" in " ".join(result.message.split())


def test_a_wrong_answer_that_changes_its_inputs_is_still_recognised():
    def residuals(weights, values):
        values -= weights @ values
        return values

    assert check("left-out-residuals", residuals).mistake == "plain-residual"


@by_name
def test_a_check_answers_quickly(name):
    start = time.monotonic()
    check(name, lambda *arguments: 0.0)
    check(name, TASKS[name].right)
    assert time.monotonic() - start < 2
