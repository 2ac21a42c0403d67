"""Tries to get out of a sealed desktop, from inside. Prints a line for each way: `out NAME` or `held NAME: why`.

    python escapes.py GIVEN.json [safe]

GIVEN.json has what the test has put outside. With `safe` only ways run that change nothing of the machine
when they succeed.
"""

import ctypes
import glob
import json
import os
import platform
import signal
import socket
import subprocess
import sys

GIVEN = json.load(open(sys.argv[1]))
SAFE = "safe" in sys.argv
LIBC = ctypes.CDLL(None, use_errno=True)
SECRET = GIVEN["secret"]
# Numbers of system calls on x86-64 and on 64-bit ARM.
CALLS = {
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "syslog": (103, 116),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "sethostname": (170, 161), "settimeofday": (164, 170), "reboot": (169, 142), "swapoff": (168, 225),
    "acct": (163, 89), "init_module": (175, 105), "kexec_load": (246, 104), "open_by_handle_at": (304, 265),
    "kcmp": (312, 272), "mknodat": (259, 33), "open_tree": (428, 428), "move_mount": (429, 429),
    "prlimit64": (302, 261), "quotactl": (179, 60), "fanotify_init": (300, 262),
}
ARM = platform.machine() == "aarch64"
WAYS = []


def way(safe=True):
    def add(function):
        WAYS.append((function.__name__.replace("_", " "), function, safe))
        return function

    return add


def call(name, *arguments):
    """A system call, whose error is raised."""
    result = LIBC.syscall(CALLS[name][ARM], *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def servers():
    """The processes of Deskline in this desktop."""
    found = []
    for pid in processes():
        line = open(f"/proc/{pid}/cmdline").read().split("\0")
        if line[0].rsplit("/", 1)[-1] == "deskline" and "serve" in line or "--desktop=private" in " ".join(line):
            found.append(pid)
    assert found, "no server"
    return found


def any_of(pids, function):
    """Whether it succeeds for one of them."""
    why = "nobody"
    for pid in pids:
        try:
            if function(pid):
                return True
        except OSError as error:
            why = error
    raise OSError(str(why))


# The network.


def connects(family, kind, address):
    with socket.socket(family, kind) as there:
        there.settimeout(2)
        there.connect(address)
        there.send(b"hello")
        return there.recv(99) == SECRET.encode()


@way()
def tcp_to_loopback():
    return connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", GIVEN["tcp"]))


@way()
def tcp_to_the_machines_address():
    return connects(socket.AF_INET, socket.SOCK_STREAM, (GIVEN["address"], GIVEN["tcp"]))


@way()
def tcp_by_a_mapped_address():
    return connects(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", GIVEN["tcp"]))


@way()
def udp_to_loopback():
    return connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", GIVEN["udp"]))


@way()
def the_servers_own_port():
    with socket.create_connection(("127.0.0.1", GIVEN["server"]), 2) as there:
        there.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return b"200" in there.recv(99)


# Sockets of this machine.


@way()
def an_abstract_stream():
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + GIVEN["abstract"])


@way()
def an_abstract_datagram():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there:
        there.sendto(b"hello", "\0" + GIVEN["abstract"] + "-datagram")
        return True


@way()
def the_screen_by_its_abstract_socket():
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(f"\0/tmp/.X11-unix/X{GIVEN['display']}")
        there.send(b"l\0\x0b\0\0\0\0\0\0\0\0\0")
        return there.recv(1) == b"\1"


@way()
def the_screen_by_its_program():
    display = f":{GIVEN['display']}"
    return subprocess.run(["xdpyinfo", "-display", display], capture_output=True).returncode == 0


@way()
def the_screen_by_its_socket():
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(f"/tmp/.X11-unix/X{GIVEN['display']}")
        return True


@way()
def a_socket_in_tmp():
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, GIVEN["socket"])


@way()
def the_system_bus():
    with socket.socket(socket.AF_UNIX) as there:
        there.connect("/run/dbus/system_bus_socket")
        return True


# Only a desktop without a seal has other kinds of sockets.


def family(name, number, kind=socket.SOCK_RAW, protocol=0):
    def opens():
        with socket.socket(number, kind, protocol):
            return True

    opens.__name__ = f"a socket of {name}"
    WAYS.append((opens.__name__, opens, True))


family("packet", 17)
family("raw IP", socket.AF_INET, socket.SOCK_RAW, 1)
family("raw IPv6", socket.AF_INET6, socket.SOCK_RAW, 58)
for name, number, kind in [
    ("AX.25", 3, 2), ("IPX", 4, 2), ("AppleTalk", 5, 2), ("X.25", 9, 5), ("LLC", 26, 2), ("CAN", 29, 3),
    ("TIPC", 30, 2), ("Bluetooth", 31, 3), ("RxRPC", 33, 2), ("IEEE 802.15.4", 36, 2), ("CAIF", 37, 1),
    ("crypto", 38, 5), ("NFC", 39, 5), ("hypervisors", 40, 1), ("KCM", 41, 2), ("QIPCRTR", 42, 2), ("SMC", 43, 1),
    ("XDP", 44, 3), ("MCTP", 45, 2), ("PF_KEY", 15, 3), ("RDS", 21, 5), ("PPPoE", 24, 1),
]:
    family(name, number, kind)


# Files.


def reads(path):
    def opens():
        return SECRET in open(path).read()

    return opens


for place, path in GIVEN["files"].items():
    WAYS.append((f"the file in {place}", reads(path), True))
    root = f"/proc/1/root{path}"
    WAYS.append((f"the file in {place} by the first process", reads(root), True))


@way()
def the_files_by_any_process():
    path = GIVEN["files"]["the home"]
    return any_of(processes(), lambda pid: SECRET in open(f"/proc/{pid}/root{path}").read())


@way()
def the_files_by_any_descriptor():
    def read(pid):
        for name in os.listdir(f"/proc/{pid}/fd"):
            if os.path.isdir(f"/proc/{pid}/fd/{name}"):
                for file in GIVEN["files"].values():
                    for part in [file, os.path.basename(file)]:
                        if os.path.exists(f"/proc/{pid}/fd/{name}/{part.lstrip('/')}"):
                            return True
        return False

    return any_of(processes(), read)


@way()
def the_file_by_its_handle():
    handle = (ctypes.c_ubyte * 136).from_buffer_copy(bytes.fromhex(GIVEN["handle"]).ljust(136, b"\0"))
    there = os.open("/usr", os.O_RDONLY)
    file = call("open_by_handle_at", there, handle, os.O_RDONLY)
    return SECRET in os.read(file, 99).decode()


@way()
def what_the_shared_memory_has():
    return SECRET in open("/dev/shm/" + GIVEN["shm"]).read()


for folder in ["/etc", "/usr/bin", "/usr/local/bin", "/opt", "/var/lib", "/boot", "/lib/systemd", "/"]:

    def writes(folder=folder):
        path = os.path.join(folder, f"escape-{os.getpid()}")
        open(path, "w").close()
        os.remove(path)
        return True

    WAYS.append((f"a new file in {folder}", writes, True))


def writes_again(path):
    def writes():
        text = open(path).read()
        with open(path, "w") as file:
            file.write(text)
        return True

    return writes


for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/swappiness"]:
    WAYS.append((path, writes_again(path), True))
WAYS.append(("/sys/kernel/mm/transparent_hugepage/enabled", lambda: bool(open(
    "/sys/kernel/mm/transparent_hugepage/enabled", "r+")), True))
WAYS.append(("the system's sysrq", lambda: bool(os.open("/proc/sysrq-trigger", os.O_WRONLY)), True))


@way()
def a_control_group():
    for folder in glob.glob("/sys/fs/cgroup/") + glob.glob("/sys/fs/cgroup/*/"):
        try:
            os.mkdir(folder + f"escape-{os.getpid()}")
            os.rmdir(folder + f"escape-{os.getpid()}")
            return True
        except OSError as error:
            why = error
    raise why


for device in ["mem", "kmsg", "port", "kvm", "fuse", "uinput", "vsock", "net/tun", "loop-control", "vda", "sda",
               "tty1", "console", "input/event0", "dri/card0", "vhost-vsock"]:
    WAYS.append((f"/dev/{device}", lambda device=device: bool(os.open(f"/dev/{device}", os.O_RDWR)), False))


# Processes.


@way()
def a_signal_to_a_process_outside():
    os.kill(GIVEN["victim"], 0)
    return GIVEN["mark"] in open(f"/proc/{GIVEN['victim']}/cmdline").read()


@way()
def the_names_of_processes_outside():
    return any(GIVEN["mark"] in open(f"/proc/{pid}/cmdline").read() for pid in processes())


@way()
def the_token_in_an_environment():
    return any_of(processes(), lambda pid: GIVEN["token"] in open(f"/proc/{pid}/environ").read())


@way()
def the_environment_of_the_server():
    return any_of(servers(), lambda pid: "PATH=" in open(f"/proc/{pid}/environ").read())


@way()
def the_memory_of_the_server():
    return any_of(servers(), lambda pid: bool(open(f"/proc/{pid}/mem", "rb")))


@way()
def the_maps_of_the_server():
    return any_of(servers(), lambda pid: len(open(f"/proc/{pid}/maps").read()) > 0)


@way()
def the_standard_output_of_the_server():
    return any_of(servers(), lambda pid: bool(os.open(f"/proc/{pid}/fd/1", os.O_WRONLY)))


@way()
def reading_the_servers_memory():
    data = ctypes.create_string_buffer(8)

    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    here = Vector(ctypes.addressof(data), 8)
    there = Vector(0x400000, 8)

    def read(pid):
        try:
            return call("process_vm_readv", pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0
        except OSError as error:
            # The process may be read, and has nothing there.
            return error.errno == 14

    return any_of(servers(), read)


@way(safe=False)
def tracing_the_server():
    def trace(pid):
        call("ptrace", 0x4206, pid, 0, 0)
        return True

    return any_of(servers(), trace)


@way()
def a_descriptor_of_the_server():
    return any_of(servers(), lambda pid: call("pidfd_getfd", call("pidfd_open", pid, 0), 0, 0) >= 0)


@way(safe=False)
def the_namespaces_of_the_first_process():
    def enter(kind):
        call("setns", os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0)
        return True

    return any_of(["mnt", "net", "ipc"], enter)


@way(safe=False)
def a_line_of_its_own_in_the_log():
    """Judged outside as well: a line that does not say who wrote it."""
    for pid in processes():
        try:
            with open(f"/proc/{pid}/fd/2", "w") as log:
                log.write(GIVEN["forged"] + "\n")
        except OSError:
            pass
    return False


# Memory, queues and keys of the same user.


@way()
def shared_memory_of_system_v():
    LIBC.shmat.restype = ctypes.c_void_p
    known = LIBC.shmget(GIVEN["key"], 0, 0)
    if known < 0:
        raise OSError("none")
    return True


@way()
def semaphores_of_system_v():
    if LIBC.semget(GIVEN["key"], 0, 0) < 0:
        raise OSError("none")
    return True


@way()
def a_queue_of_system_v():
    if LIBC.msgget(GIVEN["key"], 0) < 0:
        raise OSError("none")
    return True


def key(ring):
    found = call("keyctl", 10, ring, b"user", GIVEN["mark"].encode(), 0)
    data = ctypes.create_string_buffer(99)
    call("keyctl", 11, found, data, 99)
    return SECRET.encode() in data.value


WAYS.append(("a key of the user", lambda: key(-4), True))
WAYS.append(("a key of the user's session", lambda: key(-5), True))
WAYS.append(("a key of the session", lambda: key(-3), True))
WAYS.append(("a key by request", lambda: call("request_key", b"user", GIVEN["mark"].encode(), None, 0) > 0, True))
WAYS.append(("a new key", lambda: call("add_key", b"user", b"x", b"x", 1, -4) > 0, False))
WAYS.append(("the list of keys", lambda: GIVEN["mark"] in open("/proc/keys").read() and key(-4), True))


# The kernel.

ZEROS = ctypes.create_string_buffer(512)
WAYS.append(("io_uring", lambda: call("io_uring_setup", 1, ZEROS) >= 0, True))
WAYS.append(("bpf", lambda: call("bpf", 0, ctypes.create_string_buffer(
    b"\2\0\0\0\4\0\0\0\4\0\0\0\1\0\0\0".ljust(120, b"\0")), 120) >= 0, True))
WAYS.append(("userfaultfd", lambda: call("userfaultfd", 1) >= 0, True))
WAYS.append(("perf events", lambda: call("perf_event_open", ctypes.create_string_buffer(
    b"\1\0\0\0\x70\0\0\0".ljust(112, b"\0")), 0, -1, -1, 0) >= 0, True))
WAYS.append(("the kernel's log", lambda: call("syslog", 10, None, 0) >= 0, True))
WAYS.append(("fanotify", lambda: call("fanotify_init", 0, 0) >= 0, True))
WAYS.append(("the clock", lambda: call("settimeofday", None, ctypes.create_string_buffer(8)) == 0, False))
WAYS.append(("the host's name", lambda: call("sethostname", b"escape", 6) == 0, False))
WAYS.append(("a restart", lambda: call("reboot", 0xFEE1DEAD, 672274793, 0, None) == 0, False))
WAYS.append(("accounting", lambda: call("acct", None) == 0, False))
WAYS.append(("a module", lambda: call("init_module", ZEROS, 0, b"") == 0, False))
WAYS.append(("another kernel", lambda: call("kexec_load", 0, 0, None, 0) == 0, False))


@way(safe=False)
def another_root():
    call("chroot", b"/usr")
    return True


@way(safe=False)
def a_mount():
    call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
    return True


@way(safe=False)
def writing_where_it_is_read_only():
    call("mount", None, b"/", None, 32 | 4096, None)
    return True


@way(safe=False)
def what_lies_under_a_hidden_folder():
    call("umount2", b"/root", 2)
    return True


@way(safe=False)
def a_device():
    call("mknodat", -100, b"/tmp/escape", 0o20600, 0x101)
    return bool(os.open("/tmp/escape", os.O_RDWR))


def as_root_of_a_namespace(line):
    done = subprocess.run(["unshare", "-Urmpf", "sh", "-c", line], capture_output=True, text=True)
    if SECRET not in done.stdout:
        raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "nothing")
    return True


HOME = GIVEN["files"]["the home"]
for name, line in {
    "unmounting": f"umount -l {os.path.dirname(HOME)}; umount -l /root; umount -l /tmp; cat {HOME}",
    "a bind of the root": f"mkdir -p /tmp/b; mount --bind / /tmp/b; cat /tmp/b{HOME}",
    "a recursive bind": f"mkdir -p /tmp/c; mount --rbind / /tmp/c; umount -l /tmp/c/tmp; cat /tmp/c{HOME}",
    "another proc": f"mount -t proc none /proc; cat /proc/1/root{HOME}",
    "moving a mount": f"mkdir -p /tmp/d; mount --move /tmp /tmp/d; cat {HOME}",
    "an overlay": f"mkdir -p /tmp/e /tmp/f /tmp/g; mount -t overlay o -olowerdir=/,upperdir=/tmp/e,workdir=/tmp/f "
                  f"/tmp/g; cat /tmp/g{HOME}",
}.items():
    WAYS.append((f"{name} as root of a namespace", lambda line=line: as_root_of_a_namespace(line), False))


@way(safe=False)
def a_character_for_the_terminal():
    import fcntl
    for name in ["/dev/tty", "/dev/console", "/dev/pts/0"]:
        fcntl.ioctl(os.open(name, os.O_RDWR), 0x5412, b"x")
    return True


@way(safe=False)
def the_groups_of_the_user_outside():
    os.setgroups([0, 1])
    os.setuid(0 if os.getuid() else 1)
    return os.getuid() == 0 and os.access("/etc/shadow", os.W_OK)


signal.alarm(100)
for name, function, is_safe in WAYS:
    if SAFE and not is_safe:
        continue
    try:
        print(f"out {name}" if function() else f"held {name}: nothing", flush=True)
    except (OSError, AssertionError, ValueError, subprocess.SubprocessError) as error:
        print(f"held {name}: {error}", flush=True)
with open("/proc/net/dev") as devices:
    print("interfaces", *sorted(line.split(":")[0].strip() for line in devices if ":" in line))
print("end", flush=True)
