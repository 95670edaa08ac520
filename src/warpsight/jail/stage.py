"""Builds the jail around a worker: run as `python -I -S stage.py` by the parent, never imported.

Three processes come of it. This one stays outside as the watch: it ends the jail when the parent's end of its input
closes, so no worker outlives its parent. Its child is the first process of the new process namespace: it builds the
view, gives up all rights, and waits; when it ends the kernel kills everything in the namespace. Its child in turn
becomes the worker. The order matters: landlock and filters come last because the steps before would not pass them.
Covers building only: what is let in is decided by the parent and comes as one JSON frame. As root, the view is built
with root's rights and the worker then becomes an unprivileged user in a user namespace of its own; otherwise the user
namespace comes first. A step that fails is named to the parent; with `strict` the worker is then never started.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH102, PTH103, PTH106, PTH112, PTH120, PTH211

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import select
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any, NoReturn

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
if TYPE_CHECKING:
    from warpsight.jail import kernel
else:
    import kernel

NOBODY = 65534
STATUS_FD = 63
# Not /tmp: a Python or a project that lies below /tmp would stand in the folder whose files may be read and written.
SCRATCH = "/warpsight-scratch"
OLD_ROOT = "/.old"
SPACES = {
    "user namespace": kernel.NEWUSER,
    "mount namespace": kernel.NEWNS,
    "network namespace": kernel.NEWNET,
    "process namespace": kernel.NEWPID,
    "ipc namespace": kernel.NEWIPC,
    "host name namespace": kernel.NEWUTS,
    "cgroup namespace": kernel.NEWCGROUP,
}
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


class _Setup:
    """What was asked for and what could not be had, by name."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.missing: dict[str, str] = {}
        self.as_root = os.geteuid() == 0 and kernel.has_capabilities(kernel.CAP_SYS_ADMIN, kernel.CAP_SETUID)

    def wanted(self, name: str) -> bool:
        """Whether this step is to be taken and can be; one left out on purpose counts as missing too."""
        if name in self.config["without"]:
            self.missing[name] = "left out on purpose"
        return name not in self.missing

    def failed(self, name: str, problem: OSError) -> None:
        """Remember that a step could not be taken."""
        self.missing[name] = str(problem)

    def report(self) -> None:
        """Tell the parent, and go no further when something required is missing."""
        tell({"missing": self.missing})
        if self.config["strict"] and set(self.missing) & set(self.config["required"]):
            sys.exit(3)


def tell(message: dict[str, Any], fd: int = 1) -> None:
    """One line of JSON to the parent."""
    os.write(fd, json.dumps(message).encode() + b"\n")


def leave_namespaces(build: _Setup) -> None:
    """Enter new namespaces, one by one so that a missing one is known by name."""
    names = [name for name in SPACES if build.wanted(name)]
    if build.as_root and "user namespace" in names:
        names.remove("user namespace")  # as root it comes last, after the change of user
    for name in names:
        try:
            uid, gid = os.geteuid(), os.getegid()
            kernel.unshare(SPACES[name])
            if name == "host name namespace":
                kernel.set_host_name(kernel.HOST_NAME)
            if name == "user namespace":
                map_ids("/proc/self", uid, gid)
        except OSError as problem:
            build.failed(name, problem)


def map_ids(folder: str, uid: int, gid: int, dir_fd: int | None = None) -> None:
    """One user and one group exist inside; groups cannot be changed."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        path = name if dir_fd is not None else f"{folder}/{name}"
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=dir_fd)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)


def build_view(build: _Setup) -> None:
    """A root that holds the given paths, read-only, three devices and an empty scratch folder, and nothing else."""
    config = build.config
    owner = NOBODY if build.as_root else os.geteuid()
    group = NOBODY if build.as_root else os.getegid()
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m,nr_inodes=4k")
    os.mkdir("/tmp" + OLD_ROOT)
    kernel.pivot_root("/tmp", "/tmp" + OLD_ROOT)
    os.chdir("/")
    for folder in (SCRATCH, "/dev"):
        os.mkdir(folder)
    options = f"mode=700,uid={owner},gid={group},size={config['scratch_bytes']},nr_inodes=16k"
    kernel.mount("tmpfs", SCRATCH, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for path, target in config["links"]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    for path in config["binds"]:
        bind(path)
    for path in DEVICES:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    for path in config["binds"]:
        kernel.set_attributes(path, kernel.ATTR_RDONLY | kernel.ATTR_NOSUID | kernel.ATTR_NODEV)
    for path in DEVICES:
        kernel.mount(OLD_ROOT + path, path, None, kernel.MS_BIND)
    kernel.detach(OLD_ROOT)
    os.rmdir(OLD_ROOT)
    root_only_readable()


def root_only_readable() -> None:
    """The root itself, without what is mounted on it: the scratch folder stays writable."""
    kernel.mount("none", "/", None, 0x20 | kernel.MS_BIND | 1 | kernel.MS_NOSUID | kernel.MS_NODEV)  # remount, bind, ro


def bind(path: str) -> None:
    """Show one file or folder of the old root at the same place of the new one."""
    source = OLD_ROOT + path
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.mount(source, path, None, kernel.MS_BIND | kernel.MS_REC)


def become_nobody(build: _Setup) -> None:
    """From root to an unprivileged user, alone in a user namespace of its own."""
    own = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    show_view(build)
    if "mount namespace" in build.missing:
        build.missing["user namespace"] = "needs the mount namespace: another user may not reach this Python"
        return
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if build.wanted("user namespace"):
        try:
            kernel.unshare(kernel.NEWUSER)
            kernel.show_memory()
            map_ids("", NOBODY, NOBODY, dir_fd=own)
        except OSError as problem:
            build.failed("user namespace", problem)
    os.close(own)


def show_view(build: _Setup) -> None:
    """Build the view if there is a mount namespace to build it in."""
    if build.wanted("mount namespace"):
        try:
            build_view(build)
        except OSError as problem:
            build.failed("mount namespace", problem)
            if not os.path.isdir("/usr"):  # half-way: the old root may be out of reach
                tell({"missing": build.missing})
                sys.exit(3)


def give_up_rights(build: _Setup) -> None:
    """Every capability, and every way to get one back."""
    for name, step in (
        ("no capabilities", kernel.drop_capabilities),
        ("no new privileges", kernel.no_new_privileges),
    ):
        if build.wanted(name):
            try:
                step()
            except OSError as problem:
                build.failed(name, problem)
    kernel.hide_memory()
    kernel.die_with_parent()  # once more: the kernel forgets it when a process changes its user or its rights


def set_limits(limits: dict[str, int]) -> None:
    """Resource limits, soft and hard alike; the processor limit warns one second before it kills."""
    for name, value in limits.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        cap = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (max(cap - 1, 1), cap) if name == "RLIMIT_CPU" else (cap, cap))


def landlock_rules(config: dict[str, Any], scratch: str) -> list[tuple[str, int]]:
    """Read and start what is shown, change only what is in the scratch folder; a build starts what it makes there."""
    shown = [(path, kernel.FS_READ | kernel.FS_EXECUTE) for path in config["binds"]]
    devices = [(path, kernel.FS_READ_FILE | kernel.FS_WRITE_FILE) for path in DEVICES]
    own = kernel.FS_EXECUTE if config["starts_own"] else 0
    # The folders above what is shown hold names only; Python looks through them for modules.
    return [("/", kernel.FS_READ_DIR), *shown, *devices, (scratch, kernel.FS_SCRATCH | own)]


def plan_landlock(build: _Setup) -> tuple[bool, bool, bool]:
    """Which parts of landlock this kernel has; named as missing where it does not."""
    version = kernel.landlock_version()
    found: list[bool] = []
    for name, needed in (("landlock files", 1), ("landlock network", 4), ("landlock scope", 6)):
        if build.wanted(name) and version < needed:
            build.missing[name] = f"the kernel's landlock is version {version}, {needed} is needed"
        found.append(name not in build.missing)
    return found[0], found[1], found[2]


def become_worker(build: _Setup, parts: tuple[bool, bool, bool]) -> NoReturn:
    """The last steps, in the process that turns into the worker."""
    config = build.config
    try:
        filters = filter_pipe([] if "seccomp" in build.missing else config["levels"])
        place_channels(config["fds"], filters, config["passed"])
        inside = "mount namespace" not in build.missing
        scratch = SCRATCH if inside else config["scratch_folder"]
        os.chdir(scratch)
        kernel.die_with_parent()  # a fork forgets it, and without a process namespace nothing else ends us
        if "limits" not in build.missing:
            set_limits(config["limits"])
        if any(parts):
            rules = landlock_rules(config, scratch) if parts[0] else [("/", (1 << 16) - 1)]
            kernel.landlock(rules, network=parts[1], scope=parts[2])
        if "seccomp" not in build.missing:
            kernel.install_filter(bytes.fromhex(config["base"]))
        os.execve(config["argv"][0], config["argv"], {})
    except BaseException as problem:
        tell({"problem": f"{type(problem).__name__}: {problem}"}, STATUS_FD)
    os._exit(127)


def filter_pipe(levels: list[str]) -> int:
    """A pipe that already holds the filters of all levels, for the worker to put on."""
    reading, writing = os.pipe()
    for text in levels:
        code = bytes.fromhex(text)
        os.write(writing, struct.pack(">I", len(code)) + code)
    os.close(writing)
    return reading


def place_channels(fds: dict[str, int], filters: int, passed: list[int]) -> None:
    """Requests on 3, answers on 4, filters on 5, no input, prints to the log, from 6 on what was passed in; nothing
    else is open."""
    null = os.open("/dev/null", os.O_RDONLY)
    log = 2
    wanted = (null, log, log, fds["requests"], fds["answers"], filters, *passed)
    sources = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, STATUS_FD + 1) for fd in wanted]
    os.dup2(1, STATUS_FD, inheritable=False)
    for place, fd in enumerate(sources):
        os.dup2(fd, place)
    os.closerange(len(wanted), STATUS_FD)
    os.closerange(STATUS_FD + 1, 4096)


def close_channels(config: dict[str, Any]) -> None:
    """The worker alone holds its ends, so that the parent sees when it lets go of them."""
    for fd in {*config["fds"].values(), *config["passed"]}:
        os.close(fd)


def first_process(build: _Setup, watch_lives: int) -> NoReturn:
    """Process 1 of the jail: build, start the worker, wait for it; everything else dies when we leave."""
    os.setsid()
    kernel.die_with_parent()
    ended = select.poll()
    ended.register(watch_lives, 0)
    if ended.poll(0):  # the watch was gone before that was in force; its number is hidden from in here
        sys.exit(3)
    if build.as_root:
        become_nobody(build)
    else:
        show_view(build)
    give_up_rights(build)
    parts = plan_landlock(build)
    build.wanted("seccomp")
    build.wanted("limits")
    build.report()
    worker = os.fork()
    if worker == 0:
        become_worker(build, parts)
    close_channels(build.config)
    tell({"worker": worker})
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == worker:
            tell({"ended": status, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss << 10})
            sys.exit(0)


def watch(first: int) -> None:
    """Wait for process 1 to end, or for the parent to let go; then make sure of the end."""
    ended = os.pidfd_open(first)
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    poll.register(ended, select.POLLIN)
    if not any(fd == ended for fd, _ in poll.poll()):
        try:
            os.killpg(first, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)


def read_config() -> dict[str, Any]:
    """The one frame the parent sends."""
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack(">I", data[:4])[0]:
        part = os.read(0, 1 << 16)
        if not part:
            sys.exit(errno.EPIPE)
        data += part
    return json.loads(data[4:])


def main() -> None:
    """Build, or say what is missing."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    build = _Setup(read_config())
    leave_namespaces(build)
    watch_lives, held = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(held)
        try:
            first_process(build, watch_lives)
        except Exception as problem:
            tell({"problem": f"{type(problem).__name__}: {problem}"})
        os._exit(1)
    tell({"first": first})
    close_channels(build.config)
    watch(first)


if __name__ == "__main__":
    main()
