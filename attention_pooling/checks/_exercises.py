"""All checks of exercises/exercises.ipynb, in the order of the page."""

from . import (
    _exercise_1,
    _exercise_2,
    _exercise_3,
    _exercise_4,
    _exercise_5,
    _exercise_6,
    _exercise_7,
)

TASKS = [
    *_exercise_1.TASKS,
    *_exercise_2.TASKS,
    *_exercise_3.TASKS,
    *_exercise_4.TASKS,
    *_exercise_5.TASKS,
    *_exercise_6.TASKS,
    *_exercise_7.TASKS,
]
