"""Run a function for a limited time, whatever it does.

Two ways, chosen by where the call is made:

* In the main thread of a system with interval timers (Linux, macOS; a Jupyter kernel runs its
  cells there), a timer signal raises `TimeIsUp` inside the running code.  It also wakes a sleep.
* Elsewhere (Windows, or a kernel that runs cells in another thread), a watching thread asks the
  interpreter to raise `TimeIsUp` at the next Python instruction of the running thread.

Code that catches everything, as a bare `except:` in a loop does, is interrupted once more at the
first line that it runs afterwards, which is outside its `try`.
Neither way can break into one single call of compiled code: such a call ends first.
"""

import contextlib
import ctypes
import signal
import sys
import threading

AGAIN = 0.05  # seconds after which the interruption is repeated


class TimeIsUp(BaseException):
    """Not an `Exception`, so that `except Exception` in the code under test does not stop it."""

    def __init__(self):
        super().__init__()
        frame = sys._getframe(1)
        while frame is not None and frame.f_code is not run_limited.__code__:
            frame.f_trace = _interrupt
            frame = frame.f_back
        sys.settrace(_interrupt)  # taken back by `run_limited`


def _interrupt(frame, event, argument):
    """A trace function that interrupts at the next line or call, outside this module.

    Not at the event "exception": that one comes while the first interruption is still inside the
    `try`, and a trace function that raises is switched off.
    """
    if event in ("line", "call") and frame.f_globals is not globals():
        raise TimeIsUp
    return _interrupt


def run_limited(function, seconds):
    """Return `function()`, or raise `TimeIsUp` after `seconds` of wall-clock time."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    timer = _SignalTimer if in_main_thread and hasattr(signal, "setitimer") else _ThreadTimer
    timer = timer(seconds)
    tracing = sys.gettrace()
    try:
        timer.start()
        try:
            return function()
        finally:
            sys.settrace(tracing)
            timer.stop()
    except TimeIsUp:
        sys.settrace(tracing)
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
