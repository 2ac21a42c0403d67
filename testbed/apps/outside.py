"""Puts things outside of a sealed desktop that nothing inside may reach, and prints a JSON line about them.
Ends with its standard input, and removes them.

    python outside.py PLACE=FOLDER...   (a file with the secret is put in each folder)
"""

import ctypes
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading

os.umask(0o077)
LIBC = ctypes.CDLL(None, use_errno=True)
MARK = f"escape-{secrets.token_hex(4)}"
SECRET = secrets.token_hex(16)
KEY = secrets.randbelow(1 << 30) + 1
ARM = os.uname().machine == "aarch64"


def serve(server, stream=True):
    """Sends the secret to whoever comes."""

    def answer():
        while True:
            if stream:
                with server.accept()[0] as client:
                    client.send(SECRET.encode())
            else:
                server.sendto(SECRET.encode(), server.recvfrom(99)[1])

    threading.Thread(target=answer, daemon=True).start()


def listen(family, address, kind=socket.SOCK_STREAM):
    server = socket.socket(family, kind)
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen()
    return server


tcp = listen(socket.AF_INET, ("0.0.0.0", 0))
udp = listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)
abstract = listen(socket.AF_UNIX, f"\0{MARK}")
datagrams = listen(socket.AF_UNIX, f"\0{MARK}-datagram", socket.SOCK_DGRAM)
path = f"/tmp/{MARK}.socket"
unix = listen(socket.AF_UNIX, path)
for server in [tcp, abstract, unix]:
    serve(server)
serve(udp, stream=False)

made = [path, f"/dev/shm/{MARK}"]
files = {}
for argument in sys.argv[1:]:
    place, folder = argument.split("=", 1)
    os.makedirs(folder, exist_ok=True)
    files[place] = os.path.join(folder, MARK)
    made.append(files[place])
for file in made[1:]:
    with open(file, "w") as secret:
        secret.write(SECRET)

handle = (ctypes.c_ubyte * 136)()
handle[0] = 128
mount = ctypes.c_int()
known = LIBC.name_to_handle_at(-100, files["the home"].encode(), handle, ctypes.byref(mount), 0) == 0

memory = LIBC.shmget(KEY, 4096, 0o1666)
semaphore = LIBC.semget(KEY, 1, 0o1666)
queue = LIBC.msgget(KEY, 0o1666)
add_key, keyctl = (217, 219) if ARM else (248, 250)
keys = [(LIBC.syscall(add_key, b"user", MARK.encode(), SECRET.encode(), len(SECRET), ring), ring) for ring in (-4, -5)]

screen = subprocess.Popen(["Xvfb", "-displayfd", "1", "-ac", "-noreset"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
display = int(screen.stdout.readline())
victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MARK])
# The machine's own address: no packet is sent.
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    probe.connect(("192.0.2.1", 9))
    address = probe.getsockname()[0]
except OSError:
    address = "127.0.0.2"

print(json.dumps({
    "secret": SECRET, "mark": MARK, "tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "abstract": MARK,
    "socket": path, "display": display, "files": files, "handle": bytes(handle).hex() if known else "", "shm": MARK,
    "key": KEY, "victim": victim.pid, "address": address, "forged": f"{MARK}: all is well",
}), flush=True)
sys.stdin.read()

for process in [screen, victim]:
    process.send_signal(signal.SIGTERM)
    process.wait()
LIBC.shmctl(memory, 0, None)
LIBC.semctl(semaphore, 0, 0)
LIBC.msgctl(queue, 0, None)
for key, ring in keys:
    LIBC.syscall(keyctl, 9, key, ring)
for file in made:
    os.remove(file)
