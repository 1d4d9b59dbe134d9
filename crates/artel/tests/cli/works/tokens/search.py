"""Looks for secrets wherever a program in the sandbox can look, and prints where there were any.

needles.json has the port of the daemon, the moment before which no secret was there, and the
needles, written backwards: whoever searches must not be what is found.
"""

import glob
import json
import os
import socket
import stat
import sys

with open("needles.json", encoding="utf-8") as file:
    told = json.load(file)
NEEDLES = {name: word[::-1].encode() for name, word in told["needles"].items()}
LONGEST = max(map(len, NEEDLES.values()))
SELF = str(os.getpid())
found = set()


def look(place, parts):
    """Notes which needles are in the parts, also across their borders."""
    rest = b""
    for part in parts:
        part = rest + part
        for name, needle in NEEDLES.items():
            if needle in part:
                found.add((name, place))
        rest = part[-LONGEST:]


def pieces(path):
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(1 << 20):
                yield piece
    except OSError:
        return


def memory(pid):
    """What another process holds in memory, as far as the kernel shows it."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            spans = [line.split()[0].split("-") for line in file if " rw" in line]
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
            for start, end in spans:
                file.seek(int(start, 16))
                yield file.read(int(end, 16) - int(start, 16))
    except (OSError, OverflowError, ValueError):
        return


def files():
    """Whatever was written since the secrets were made; nothing older can hold one."""
    for folder, below, names in os.walk("/"):
        below[:] = [name for name in below if os.path.join(folder, name) not in ("/proc", "/sys")]
        for name in names:
            path = os.path.join(folder, name)
            try:
                about = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode) and about.st_ctime >= told["since"]:
                look("file", pieces(path))
            elif stat.S_ISSOCK(about.st_mode):
                look("socket", answers(socket.AF_UNIX, path))


def answers(family, address):
    """What a server says to whoever has no token."""
    try:
        with socket.socket(family) as stream:
            stream.settimeout(5)
            stream.connect(address)
            stream.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{told['port']}\r\n\r\n".encode())
            found.add(("answer", "network"))
            while piece := stream.recv(1 << 16):
                yield piece
    except OSError:
        return


files()
look("environment", ["\0".join(f"{name}={value}" for name, value in os.environ.items()).encode()])
for folder in glob.glob("/proc/[0-9]*"):
    pid = folder.split("/")[-1]
    for name in ("cmdline", "environ", "comm", "mountinfo", "stack"):
        look(name, pieces(f"{folder}/{name}"))
    for path in glob.glob(f"{folder}/fd/*"):
        # What is open may have no name any more. Pipes and terminals would wait for somebody.
        if os.path.isfile(path):
            look("open", pieces(path))
    if pid != SELF:
        look("memory", memory(pid))
look("network", answers(socket.AF_INET, ("127.0.0.1", told["port"])))
print("seen:", json.dumps(sorted(found)), file=sys.stdout)
