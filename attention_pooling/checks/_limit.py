"""Run a function for a limited time, whatever it does.

Two ways, chosen by where the call is made:

* In the main thread of a system with interval timers (Linux, macOS; a Jupyter kernel runs its
  cells there), a timer signal raises `TimeIsUp` inside the running code.  It also wakes a sleep.
* Elsewhere (Windows, or a kernel that runs cells in another thread), a watching thread asks the
  interpreter to raise `TimeIsUp` at the next Python instruction of the running thread.

Neither can break into one single call of compiled code: such a call ends first.
"""

import contextlib
import ctypes
import signal
import threading

AGAIN = 0.05  # seconds after which the interruption is repeated, for code that catches everything


class TimeIsUp(BaseException):
    """Not an `Exception`, so that `except Exception` in the code under test does not stop it."""


def run_limited(function, seconds):
    """Return `function()`, or raise `TimeIsUp` after `seconds` of wall-clock time."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    timer = _SignalTimer if in_main_thread and hasattr(signal, "setitimer") else _ThreadTimer
    timer = timer(seconds)
    try:
        timer.start()
        try:
            return function()
        finally:
            timer.stop()
    except TimeIsUp:
        timer.stop()  # the interruption may have come while the first stop was at work
        raise


class _SignalTimer:
    def __init__(self, seconds):
        self.seconds = seconds
        self.armed = False

    def start(self):
        self.handler_before = signal.signal(signal.SIGALRM, self.ring)
        self.timer_before = signal.setitimer(signal.ITIMER_REAL, self.seconds, AGAIN)
        self.armed = True

    def ring(self, signum, frame):
        if self.armed:
            raise TimeIsUp

    def stop(self):
        self.armed = False
        signal.setitimer(signal.ITIMER_REAL, *self.timer_before)
        signal.signal(signal.SIGALRM, self.handler_before)


class _ThreadTimer:
    def __init__(self, seconds):
        self.seconds = seconds
        self.target = ctypes.c_ulong(threading.get_ident())
        self.done = threading.Event()
        self.lock = threading.Lock()

    def start(self):
        with contextlib.suppress(RuntimeError):  # a platform without threads: no limit there
            threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        wait = self.seconds
        while not self.done.wait(wait):
            wait = AGAIN
            with self.lock:
                if not self.done.is_set():
                    self.raise_there(ctypes.py_object(TimeIsUp))

    def stop(self):
        self.done.set()
        with self.lock:
            self.raise_there(None)  # withdraw an interruption that has not arrived yet

    def raise_there(self, what):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self.target, what)
