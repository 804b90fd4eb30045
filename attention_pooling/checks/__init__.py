"""Checks for the exercises: what is right, what is not yet, and which mistake it looks like.

`check(name, answer)` never raises into the notebook, needs no network and does not show the
answer.  Where readers give a function, it is called on copies of small inputs, for at most
1.5 seconds in all.  `hint(name)` gives the first of at most three hints, `hint(name, 2)` the next.

>>> check("exponent", None).outcome
'not attempted'
>>> hint("no such check")
There is no check "no such check".
"""

import difflib

from . import _exercises, _scenarios
from ._core import NOT_ATTEMPTED, NOT_YET, RIGHT, CheckResult, Task, lay_out

__all__ = ["CheckResult", "Hint", "NOT_ATTEMPTED", "NOT_YET", "RIGHT", "TASKS", "check", "hint"]

TASKS: dict[str, Task] = {task.name: task for task in [*_exercises.TASKS, *_scenarios.TASKS]}


class Hint:
    """A hint; shown in a notebook it is its text."""

    def __init__(self, head, text=""):
        self.text = lay_out(head, text)

    def __repr__(self):
        return self.text


def check(name, answer=None):
    """Compare an answer with what the exercise asks for.

    Parameters
    ----------
    name : str
        The name of the check, as printed in the exercise.
    answer : callable, number, array-like or dict, optional
        What the exercise asks for: the function itself, or the numbers.

    Returns
    -------
    CheckResult
        Shown as its message.  `passed` is True when the answer is right.
    """
    task = TASKS.get(name) if isinstance(name, str) else None
    if task is None:
        return CheckResult(name, NOT_YET, _unknown(name), "unknown-name")
    return task.check(answer)


def hint(name, step=1):
    """Return one hint to an exercise.

    Parameters
    ----------
    name : str
        The name of the check.
    step : int, default 1
        Which hint: 1, 2 or 3, from a nudge to nearly the whole way.

    Returns
    -------
    Hint
        Shown as its text.
    """
    task = TASKS.get(name) if isinstance(name, str) else None
    if task is None:
        return Hint(_unknown(name))
    count = len(task.hints)
    if step not in range(1, count + 1):
        return Hint(f'The check "{name}" has hints 1 to {count}.')
    head = f"Hint {int(step)} of {count}"
    head += f' (the next one: hint("{name}", {int(step) + 1})).' if step < count else "."
    return Hint(head, task.hints[int(step) - 1])


def _unknown(name):
    if not isinstance(name, str):
        return "There is no check without a name in quotes; it comes first, then your answer."
    near = difflib.get_close_matches(name, TASKS, n=1)
    return f'There is no check "{name}".' + (f' Did you mean "{near[0]}"?' if near else "")
