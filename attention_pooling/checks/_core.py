"""What a check is made of: tasks, their known mistakes, and the verdict on an answer."""

import copy
import inspect
import linecache
import re
import textwrap
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from ._limit import TimeIsUp, run_limited

NOT_ATTEMPTED, RIGHT, NOT_YET = "not attempted", "right", "not yet"
SECONDS = 1.5  # for all calls of an answer in one check
RELATIVE, ABSOLUTE = 1e-4, 1e-7  # wide enough for float32 and for finite differences
LINE = 76  # characters, so that a message fits a narrow notebook


class CheckResult:
    """The verdict of a check; shown in a notebook it is its message.

    Attributes
    ----------
    name : str
        The name of the check.
    outcome : str
        `"not attempted"`, `"right"` or `"not yet"`.
    passed : bool
        Whether the outcome is `"right"`; also the truth value of the result.
    mistake : str or None
        A short name of the mistake that was recognised.
    message : str
        What the reader sees.
    """

    def __init__(self, name, outcome, text, mistake=None):
        self.name, self.outcome, self.mistake = name, outcome, mistake
        self.message = lay_out(f"{outcome.capitalize()}: {name}.", text)

    @property
    def passed(self):
        return self.outcome == RIGHT

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return self.message


class Mistake(NamedTuple):
    """A mistake that a check knows: `wrong` gives the numbers it leads to."""

    label: str
    wrong: Any
    message: str


class Verdict(NamedTuple):
    """What `Task.judge` says of outputs that cannot be compared with one right output."""

    label: str | None  # None: right
    message: str


@dataclass(frozen=True)
class Task:
    """One check.

    For a task that asks for a function, `cases` are the arguments it is called with, and `right`
    and each `Mistake.wrong` are functions of the same arguments.  For a task that asks for
    numbers, `cases` is None and `right` and `wrong` are numbers.
    `judge(case, output)` replaces `right` where many outputs are right.
    `fields` names the parts of an answer of several numbers; `prepare` translates an equally
    fair form of the answer into the one compared.
    """

    name: str
    wanted: str
    praise: str
    look: str
    hints: Sequence[str]
    cases: Sequence[tuple] | None = None
    right: Any = None
    mistakes: Sequence[Mistake] = ()
    judge: Callable | None = None
    fields: Sequence[str] = ()
    prepare: Callable | None = None
    relative: float = RELATIVE
    absolute: float = ABSOLUTE

    def check(self, answer):
        """Return the `CheckResult` for `answer`."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self._check(answer)
            except _Stop as stop:
                return CheckResult(self.name, stop.outcome, stop.text, stop.label)

    def _check(self, answer):
        if _is_blank(answer):
            raise _Stop(NOT_ATTEMPTED, f"It waits for {self.wanted}.")
        if self.cases is None:
            clock = _Clock()
            outputs, mutated = [self._numbers(answer, clock)], None
            if self.prepare is not None:
                outputs = [self.prepare(output) for output in outputs]
            cases = [()]
        else:
            outputs, mutated = self._call(answer)
            cases = self.cases
        if self.judge is not None:
            self._judge(cases, outputs)
        else:
            self._compare(cases, outputs)
        note = ""
        if mutated:
            note = (
                f" One thing: your function changes its argument `{mutated}` in place. Whoever"
                " calls it loses the original; work on a copy."
            )
        return CheckResult(self.name, RIGHT, self.praise + note)

    # Getting the numbers out of an answer

    def _call(self, function):
        if not callable(function):
            raise _Stop(
                NOT_YET,
                f"You gave {_kind(function)}, but this check calls your function itself, on"
                f' its own inputs. Write check("{self.name}", my_function), without'
                " parentheses after the function's name.",
                "not-a-function",
            )
        clock, outputs, mutated = _Clock(), [], None
        for case in self.cases:
            arguments = copy.deepcopy(case)
            output = self._numbers(lambda: function(*arguments), clock, function)
            outputs.append(output)
            mutated = mutated or _first_change(function, case, arguments)
        return outputs, mutated

    def _numbers(self, source, clock, function=None):
        """The answer as a float array; `source` is called, under the time limit, if it can be."""

        def evaluate():
            value = source() if callable(source) else source
            return None if _is_blank(value) else _to_array(value, self.fields)

        try:
            array = run_limited(evaluate, clock.left())
        except TimeIsUp:
            raise _Stop(
                NOT_YET,
                f"Your code was still running after {SECONDS:g} seconds and was stopped. The"
                " inputs of this check are small, so look for a loop that never ends: a"
                " `while` whose condition does not change, or an iterator without an end.",
                "no-end",
            ) from None
        except _NotNumbers as error:
            raise _Stop(NOT_YET, f"{error} It waits for {self.wanted}.", "no-numbers") from None
        except NotImplementedError:
            raise _Stop(NOT_ATTEMPTED, f"It waits for {self.wanted}.") from None
        except KeyboardInterrupt:
            raise  # the reader pressed stop
        except BaseException as error:
            raise _Stop(NOT_YET, _describe(error, function), "exception") from None
        if array is None and _computes(function):
            text = "Your function computes something and returns nothing: end it with `return` and the result."
            raise _Stop(NOT_YET, f"{text} It waits for {self.wanted}.", "nothing-returned")
        if array is None:
            raise _Stop(NOT_ATTEMPTED, f"It waits for {self.wanted}.")
        return array

    # Judging them

    def _judge(self, cases, outputs):
        verdicts = [self.judge(case, output) for case, output in zip(cases, outputs)]
        for verdict in verdicts:
            if verdict.label is not None:
                raise _Stop(NOT_YET, verdict.message, verdict.label)

    def _compare(self, cases, outputs):
        expected = self._expected(self.right, cases)
        if self._same(outputs, expected):
            return
        for mistake in self.mistakes:
            if self._same(outputs, self._expected(mistake.wrong, cases)):
                raise _Stop(NOT_YET, mistake.message, mistake.label)
        raise _Stop(NOT_YET, *self._anything_else(cases, outputs, expected))

    def _expected(self, what, cases):
        if callable(what):
            return [_to_array(what(*copy.deepcopy(case)), self.fields) for case in cases]
        return [_to_array(what, self.fields)]

    def _same(self, outputs, expected):
        return all(self._close(a, b) for a, b in zip(outputs, expected))

    def _close(self, output, expected):
        output = _fit(output, expected)
        if output is None:
            return False
        size = np.nanmax(np.abs(expected), initial=0.0)
        near = self.absolute + self.relative * size
        both_nan = np.isnan(output) & np.isnan(expected)
        return bool(np.all(both_nan | (np.abs(output - expected) <= near)))

    def _anything_else(self, cases, outputs, expected):
        """Text and label for numbers that no listed mistake explains."""
        for output, target in zip(outputs, expected):
            if not np.all(np.isfinite(output)) and np.all(np.isfinite(target)):
                bad = int(np.sum(~np.isfinite(output)))
                what = f"{bad} of the {output.size} numbers you returned are"
                if output.size == 1:
                    what = "The number you returned is"
                return (
                    f"{what} not finite. Look for 0/0, an overflow, or the logarithm of 0."
                    f" {self.look}",
                    "not-finite",
                )
        if len(outputs) > 1 and all(np.array_equal(outputs[0], output) for output in outputs):
            if not all(np.array_equal(expected[0], target) for target in expected):
                return (
                    f"Your function gives the same for {len(outputs)} different inputs. Does it use"
                    " its arguments, or names from the notebook instead?",
                    "same-for-all",
                )
        turned = [output.T for output in outputs]
        if any(o.ndim == 2 and o.shape[0] != o.shape[1] for o in outputs) and self._same(
            turned, expected
        ):
            return (
                "These are the right numbers, transposed: rows and columns have changed places."
                " In this book rows are queries and columns are keys (or classes).",
                "transposed",
            )
        for output, target in zip(outputs, expected):
            if _fit(output, target) is None:
                swapped = output.ndim == 2 and _fit(output.T, target) is not None
                hint = "Have rows and columns changed places?" if swapped else self.look
                return (
                    f"You returned {_size(output)}; for this input it should be {_size(target)}."
                    f" {hint}",
                    "shape",
                )
        factor = self._common_factor(outputs, expected)
        if factor is not None and factor < 0 and abs(factor + 1) < 1e-3:
            return (f"The sign is lost: every number is minus the right one. {self.look}", "sign")
        if factor is not None and abs(factor - 1) < 1e-2:
            return (
                "Close, but every number is off by the same small part of itself. Look for a"
                " finite difference that is one-sided or has too large a step, or for a"
                f" constant that was rounded. {self.look}",
                "lost-digits",
            )
        if factor is not None:
            return (
                "Every number is the right one times the same constant. A factor is missing or"
                f" one too many. {self.look}",
                "constant-factor",
            )
        wrong = [not self._close(o, e) for o, e in zip(outputs, expected)]
        some = "" if all(wrong) else f" on {sum(wrong)} of {len(wrong)} inputs, the others agree"
        shown = ""
        if self.cases is not None:
            first = wrong.index(True)
            shown = f" For example, {_call_text(self.wanted, cases[first])} gave"
            shown += f" {_largest_difference(outputs[first], expected[first])}."
        return (f"The numbers differ{some}.{shown} {self.look}", "other")

    def _common_factor(self, outputs, expected):
        a = np.concatenate([_fit(o, e).ravel() for o, e in zip(outputs, expected)])
        b = np.concatenate([e.ravel() for e in expected])
        if a.size < 2 or not b.any() or not a.any():
            return None
        factor = a @ b / (b @ b)
        fits = np.all(np.abs(a - factor * b) <= self.relative * np.abs(factor * b).max())
        return factor if fits else None


# Parts without state


class _Stop(Exception):
    def __init__(self, outcome, text, label=None):
        super().__init__(text)
        self.outcome, self.text, self.label = outcome, text, label


class _NotNumbers(Exception):
    pass


class _Clock:
    def __init__(self):
        self.end = time.monotonic() + SECONDS

    def left(self):
        return max(self.end - time.monotonic(), 1e-3)


def _computes(function):
    """Say whether a function does more than the starter code, which returns None at once."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    named, rest, by_name = inspect.getargs(code)
    return bool(code.co_names) or code.co_nlocals > len(named) + (rest is not None) + (by_name is not None)


def _is_blank(value):
    """None, `...`, or a container of nothing else: what a starter holds."""
    if value is None or value is Ellipsis or value is NotImplemented:
        return True
    if isinstance(value, Mapping):
        return len(value) == 0 or all(_is_blank(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(_is_blank(part) for part in value)
    return False


def _to_array(value, fields=()):
    if isinstance(value, Mapping):
        missing = [field for field in fields if field not in value]
        if missing or not fields:
            raise _NotNumbers(f"The answer has no entry {', '.join(map(repr, missing))}.")
        value = [value[field] for field in fields]
    if isinstance(value, Iterator):
        value = list(value)
    if isinstance(value, (list, tuple)):
        if any(part is None for part in value):
            raise _NotNumbers("A part of the answer is still None.")
        value = [np.squeeze(_to_array(part)) for part in value]
        if len({part.shape for part in value}) > 1:
            raise _NotNumbers("The rows of the answer differ in length.")
    if isinstance(value, (str, bytes, set)) or callable(value):
        raise _NotNumbers(f"The answer is {_kind(value)}, not numbers.")
    try:
        if np.iscomplexobj(value):  # a conversion to float would drop the imaginary parts
            raise _NotNumbers(
                "The answer holds complex numbers; it should be real. Look for a root, a"
                " logarithm or a broken power of a negative number."
            )
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise _NotNumbers(f"The answer is {_kind(value)}, not numbers.") from None
    return array


def _fit(output, expected):
    """`output` in the shape of `expected`, if they differ only by axes of length one."""
    if output.shape == expected.shape:
        return output
    if np.squeeze(output).shape == np.squeeze(expected).shape:
        return output.reshape(expected.shape)
    return None


def _first_change(function, before, after):
    for position, (old, new) in enumerate(zip(before, after)):
        if isinstance(old, np.ndarray) and not np.array_equal(old, new, equal_nan=True):
            try:
                return list(inspect.signature(function).parameters)[position]
            except (TypeError, ValueError, IndexError):
                return f"number {position + 1}"
    return None


def _kind(value):
    if callable(value) and hasattr(value, "__name__"):
        return f"the function `{value.__name__}`"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _describe(error, function):
    """The error in one sentence, with the reader's own line where there is one."""
    message = str(error).split("\n")[0]
    text = f"Your code stopped with {type(error).__name__}"
    text += f": {message.rstrip(' .')}." if message else "."
    own = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == own]
    if frames:
        line = frames[-1].line or linecache.getline(own, frames[-1].lineno).strip()
        text += f" It was in line {frames[-1].lineno} of its cell"
        text += f": `{line}`." if line else "."
    elif isinstance(error, TypeError) and "argument" in message:
        text += " Keep the arguments that the starter code has, in their order."
    return text


def _call_text(wanted, case):
    name = re.search(r"`(\w+)\(", wanted)
    return f"{name[1] if name else 'your function'}({', '.join(_short(part) for part in case)})"


def _short(value):
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array:.4g}"
    if array.size > 6:
        return f"<array of shape {array.shape}>"
    return np.array2string(array, precision=4, separator=", ").replace("\n", "")


def _size(array):
    return f"an array of shape {array.shape}" if array.ndim else "a single number"


def _largest_difference(output, expected):
    """What the answer gave where it differs most; never what would be right."""
    if output.ndim == 0:
        return _short(output)
    error = np.abs(_fit(output, expected) - expected).ravel()
    at = np.unravel_index(error.argmax(), output.shape)
    return f"{output[at]:.4g} in entry [{', '.join(map(str, at))}]"


def lay_out(head, text):
    """A first line, then the text in lines of at most `LINE` characters."""
    lines = textwrap.wrap(text, LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join([head, *lines])
