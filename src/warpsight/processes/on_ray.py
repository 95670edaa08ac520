"""Units on a Ray cluster: the nodes work, this process hands out units, takes results and decides when it is over.

Ray runs a unit again where its worker or its node ended, so nothing is lost; its result is taken once, so nothing comes
twice. Workers find results of others in the shared cache (`WARPSIGHT_SHARED_CACHE`), or where all nodes mount the cache
folder. Without an address it joins the cluster that `RAY_ADDRESS` or a Ray job names, and else starts one on this
machine, which ends with it. What must stay true: leaving early cancels what is under way; nothing here forks, and
programs that a unit starts end with their worker, by the guard. Ray itself is loaded when the first unit is run.
"""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar

from warpsight.errors import BrokenMachine, ToolMissing
from warpsight.processes.executor import Begin, CallElsewhere, as_done, in_order

Unit = TypeVar("Unit")
Result = TypeVar("Result")
RETRIES = 3
LOOK_AT_CLUSTER_S = 2.0
SHARED = (
    "WARPSIGHT_CACHE",
    "WARPSIGHT_SHARED_CACHE",
    "WARPSIGHT_DATA",
    "WARPSIGHT_UNSAFE",
    "WARPSIGHT_VERBOSE",
    "WARPSIGHT_CUDA",
)
QUIET = {
    "RAY_AUTH_MODE": "disabled",  # else it writes a token into the home folder
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "1",
}


class OnRay:
    """On the cluster at an address; None is the one of this job or this machine."""

    def __init__(self, address: str | None) -> None:
        self._address = address

    def run(
        self, work: Callable[[Unit], Result], units: Iterable[Unit], *, ordered: bool = True, begin: Begin | None = None
    ) -> Generator[Result]:
        cluster = _Cluster(self._address)
        try:
            flow = in_order if ordered else as_done
            submit = cluster.submitter(work, begin)
            yield from flow(iter(units), submit, cluster.wait_any, cluster.result, cluster.workers)
        finally:
            cluster.close()

    @contextmanager
    def calls(self, begin: Begin | None = None) -> Generator[CallElsewhere]:
        cluster = _Cluster(self._address)
        known: dict[Callable[[Any], Any], Callable[[Any], Any]] = {}

        def call(work: Callable[[Any], Any], unit: Any) -> Any:
            if work not in known:
                known[work] = cluster.submitter(work, begin)
            return cluster.result(known[work](unit))

        try:
            yield call
        finally:
            cluster.close()


class _Cluster:
    """A connection to a cluster, and what is under way there."""

    def __init__(self, address: str | None) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        try:
            ray: Any = importlib.import_module("ray")
        except ModuleNotFoundError:
            raise ToolMissing("the package ray is not installed", hint="pip install 'warpsight[scale]'") from None
        self._ray = ray
        self._going: set[Any] = set()
        self._workers, self._looked = 1, 0.0
        self._mine = not ray.is_initialized()
        if self._mine:
            self._connect(address)

    def _connect(self, address: str | None) -> None:
        before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
        environment = {name: os.environ[name] for name in SHARED if name in os.environ}
        asked: dict[str, Any] = {"log_to_driver": False, "runtime_env": {"env_vars": {**QUIET, **environment}}}
        if address is None and not os.environ.get("RAY_ADDRESS"):
            asked |= {"include_dashboard": False, "logging_level": "warning"}
        try:
            self._ray.init(address=address, **asked)
        except ImportError as problem:
            raise ToolMissing(f"{problem}", hint="pip install 'ray[client]', or run on a node of the cluster") from None
        except Exception as problem:  # a start that takes too long is a plain one
            where = address or os.environ.get("RAY_ADDRESS") or "this machine"
            raise BrokenMachine(
                f"no Ray cluster at {where}: {problem}", hint="ray status; `ray stop` forgets one that ended"
            ) from None
        finally:
            for one, how in before.items():  # a signal means to a command what it meant before
                signal.signal(one, how)

    def submitter(self, work: Callable[[Unit], Result], begin: Begin | None) -> Callable[[Unit], Any]:
        """Hands out a unit. The work is sent once; Ray runs a unit again when its worker ends, not when it fails."""
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES)(_one)
        sent = self._ray.put((work, begin))

        def submit(unit: Unit) -> Any:
            going = remote.remote(sent, unit)
            self._going.add(going)
            return going

        return submit

    def wait_any(self, going: list[Any]) -> set[Any]:
        done, _ = self._ray.wait(going, num_returns=1)
        return set(done)

    def result(self, one: Any) -> Any:
        errors = self._ray.exceptions
        self._going.discard(one)
        try:
            return self._ray.get(one)
        except errors.RayTaskError as failed:
            raise failed.cause if isinstance(getattr(failed, "cause", None), Exception) else failed from None
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.ObjectLostError) as lost:
            raise BrokenMachine(
                f"a unit was lost {RETRIES + 1} times, perhaps for want of memory: {type(lost).__name__}",
                hint="the same command goes on with what is finished",
            ) from None

    def workers(self) -> int:
        """How many units the cluster works at now; nodes come and go."""
        if time.monotonic() - self._looked > LOOK_AT_CLUSTER_S:
            self._workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            self._looked = time.monotonic()
        return self._workers

    def close(self) -> None:
        for one in tuple(self._going):
            self._ray.cancel(one, force=True)
        self._going.clear()
        if self._mine:
            self._ray.shutdown()


_begun: list[bool] = []  # in this worker


def _one(sent: tuple[Callable[[Any], Any], Begin | None], unit: Any) -> Any:
    work, begin = sent
    if begin is not None and not _begun:
        begin()
    _begun.append(True)
    return work(unit)
