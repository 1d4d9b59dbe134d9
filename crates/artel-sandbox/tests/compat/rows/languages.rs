//! Interpreters and virtual machines, with what they ask of the system.

use crate::both::{ROW, Row};

pub(super) const PYTHON: &[Row] = &[
    Row {
        name: "python3 asyncio woken from another thread",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
import asyncio, threading

async def main():
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    threading.Thread(target=lambda: loop.call_soon_threadsafe(woken.set)).start()
    await asyncio.wait_for(woken.wait(), 60)
    print(await asyncio.to_thread(lambda: 42))
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    print((await child.communicate())[0].decode().strip())

asyncio.run(main())
"#,
        )],
        script: "python3 a.py",
        says: r"^42\nchild\n$",
        ..ROW
    },
    Row {
        name: "python3 multiprocessing",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
import multiprocessing as mp

def square(number):
    return number * number

if __name__ == "__main__":
    for way in ["fork", "spawn", "forkserver"]:
        context = mp.get_context(way)
        with context.Pool(2) as pool:
            print(way, pool.map(square, range(5)))
        queue = context.Queue()
        child = context.Process(target=queue.put, args=("queued",))
        child.start()
        print(queue.get(timeout=60))
        child.join()
    with mp.Manager() as manager:
        print(manager.list([1, 2])[1])
"#,
        )],
        script: "python3 a.py",
        says: r"(?s)^fork \[0, 1, 4, 9, 16\]\nqueued\nspawn .*forkserver .*\n2\n$",
        ..ROW
    },
    Row {
        name: "python3 process pool and shared memory",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory

def fill(name):
    memory = shared_memory.SharedMemory(name)
    memory.buf[0] = 42
    memory.close()

if __name__ == "__main__":
    memory = shared_memory.SharedMemory(create=True, size=1 << 20)
    with ProcessPoolExecutor(2) as pool:
        pool.submit(fill, memory.name).result(60)
    print(memory.buf[0])
    memory.close()
    memory.unlink()
"#,
        )],
        script: "python3 a.py",
        says: r"^42\n$",
        ..ROW
    },
    Row {
        name: "python3 threading and subprocess",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
import subprocess, threading
found = []
threads = [threading.Thread(target=found.append, args=(n,)) for n in range(64)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sum(found))
done = subprocess.run("echo out; echo err >&2; exit 3", shell=True, capture_output=True, text=True)
print(done.returncode, done.stdout.strip(), done.stderr.strip())
try:
    subprocess.run(["cat", "/dev/zero"], stdout=subprocess.DEVNULL, timeout=0.01)
except subprocess.TimeoutExpired:
    print("in time")
"#,
        )],
        script: "python3 a.py",
        says: r"^2016\n3 out err\nin time\n$",
        ..ROW
    },
    Row {
        name: "python3 tempfile, mmap and terminals",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
import mmap, os, pty, tempfile
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir=folder) as file:
    file.write(b"x" * 4096); file.flush()
    with mmap.mmap(file.fileno(), 0) as memory:
        memory[0:1] = b"y"
    file.seek(0)
    print(file.read(2), os.path.isdir(folder))
master, slave = pty.openpty()
os.write(slave, b"typed\n")
print(os.read(master, 100).split(), os.isatty(slave), os.cpu_count(), os.getcwd())
print(os.path.expanduser("~"), len(os.urandom(8)))
"#,
        )],
        script: "python3 a.py",
        says: r"^b'yx' True\n\[b'typed'\] True \d+ <folder>\n",
        ..ROW
    },
    Row {
        name: "python3 sockets on loopback and by name",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
import socket, threading
def serve(server):
    with server, server.accept()[0] as client:
        client.sendall(b"served")
def ask(family, address):
    server = socket.socket(family)
    server.bind(address); server.listen()
    threading.Thread(target=serve, args=(server,)).start()
    with socket.socket(family) as client:
        client.connect(server.getsockname())
        print(client.recv(100, socket.MSG_WAITALL))
ask(socket.AF_INET, ("127.0.0.1", 0))
ask(socket.AF_UNIX, "socket")
print(socket.getaddrinfo("localhost", 80, socket.AF_INET)[0][4])
"#,
        )],
        script: "python3 a.py",
        says: r"^b'served'\nb'served'\n\('127.0.0.1', 80\)\n$",
        ..ROW
    },
    Row {
        name: "python3 venv",
        needs: &["python3"],
        script: "python3 -m venv --without-pip env
                 env/bin/python -c 'import sys; print(sys.prefix)'",
        says: r"^<folder>/env\n$",
        ..ROW
    },
    Row {
        name: "pip",
        needs: &["pip"],
        script: "pip --version; python3 -m pip list --disable-pip-version-check --format freeze",
        says: r"^pip \d+",
        ..ROW
    },
    Row {
        name: "pip install of a folder",
        needs: &["pip"],
        files: &[
            ("dep/dep.py", "answer = 42\n"),
            (
                "dep/pyproject.toml",
                "[build-system]\nrequires = []\nbuild-backend = 'build'\nbackend-path = ['.']\n",
            ),
            (
                "dep/build.py",
                r#"
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    name = "dep-1-py3-none-any.whl"
    about = "dep-1.dist-info/"
    with zipfile.ZipFile(folder + "/" + name, "w") as wheel:
        wheel.write("dep.py")
        wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: dep\nVersion: 1\n")
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(about + "WHEEL", tag)
        wheel.writestr(about + "RECORD", "")
    return name
"#,
            ),
        ],
        script: "python=$(python3 -c 'import sys; print(sys.executable)')
                 \"$python\" -m pip install -q --no-index --no-deps \
                     --disable-pip-version-check --target lib ./dep
                 PYTHONPATH=lib python3 -c 'import dep; print(dep.answer)'",
        says: r"^42\n$",
        ..ROW
    },
    Row {
        name: "python3 unittest",
        needs: &["python3"],
        files: &[(
            "test_a.py",
            "import unittest\nclass A(unittest.TestCase):\n    def test_it(self):\n        \
             self.assertEqual(1, 1)\n    def test_not(self):\n        self.assertEqual(1, 2)\n",
        )],
        script: "python3 -m unittest -v 2>&1 | grep -E '^(test_|FAILED)'",
        says: r"FAILED \(failures=1\)",
        code: 1,
        ..ROW
    },
    Row {
        name: "pytest",
        needs: &["pytest"],
        files: &[(
            "test_a.py",
            "def test_it(tmp_path):\n    (tmp_path / 'a').write_text('x')\n",
        )],
        script: "pytest -q -p no:cacheprovider",
        says: r"1 passed",
        ..ROW
    },
    Row {
        name: "sqlite3 of python3, with a write-ahead log",
        needs: &["python3"],
        files: &[(
            "a.py",
            r#"
import sqlite3
one, two = sqlite3.connect("a.db"), sqlite3.connect("a.db")
print(one.execute("pragma journal_mode=wal").fetchone()[0])
one.execute("create table t(x)")
with one:
    one.executemany("insert into t values(?)", ((n,) for n in range(1000)))
print(two.execute("select sum(x) from t").fetchone()[0])
print(two.execute("pragma wal_checkpoint(truncate)").fetchone()[0])
"#,
        )],
        script: "python3 a.py; test -s a.db",
        says: r"^wal\n499500\n0\n$",
        ..ROW
    },
];

pub(super) const NODE: &[Row] = &[
    Row {
        name: "node worker threads",
        needs: &["node"],
        files: &[(
            "a.js",
            r#"
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
if (isMainThread) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const all = [1, 2, 3, 4].map((n) => new Promise((done, fail) => {
    const worker = new Worker(__filename, { workerData: { n, shared } });
    worker.on("message", done).on("error", fail);
  }));
  Promise.all(all).then((squares) => console.log(squares.join(), shared[0]));
} else {
  Atomics.add(workerData.shared, 0, workerData.n);
  parentPort.postMessage(workerData.n ** 2);
}
"#,
        )],
        script: "node a.js",
        says: r"^1,4,9,16 10\n$",
        ..ROW
    },
    Row {
        name: "node files and children",
        needs: &["node"],
        files: &[(
            "a.js",
            r#"
const fs = require("fs"), os = require("os"), path = require("path");
const { execFileSync, fork } = require("child_process");
if (process.argv[2]) {
  process.on("message", (n) => { process.send(n * 2); process.disconnect(); });
} else {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "a-"));
  const watcher = fs.watch(folder, (_, name) => { console.log("saw", name); watcher.close(); });
  fs.writeFileSync(path.join(folder, "file"), "text");
  fs.rmSync(folder, { recursive: true });
  console.log(execFileSync("echo", ["child"]).toString().trim(), os.cpus().length, os.homedir());
  const child = fork(__filename, ["child"]);
  child.on("message", (n) => console.log("sent", n));
  child.send(21);
}
"#,
        )],
        script: "node a.js | sort",
        says: r"(?m)^child \d+ .*\nsaw file\nsent 42\n",
        ..ROW
    },
    Row {
        name: "node http server on loopback",
        needs: &["node"],
        files: &[(
            "a.js",
            r#"
const http = require("http");
const server = http.createServer((request, response) => response.end("served " + request.url));
server.listen(0, "127.0.0.1", async () => {
  const reply = await fetch(`http://127.0.0.1:${server.address().port}/a`);
  console.log(reply.status, await reply.text());
  http.get({ host: "localhost", family: 4, port: server.address().port, path: "/b" }, (reply) => {
    reply.on("data", (text) => console.log(text.toString()));
    reply.on("end", () => { server.closeAllConnections(); server.close(); });
  });
});
"#,
        )],
        script: "node a.js",
        says: r"^200 served /a\nserved /b\n$",
        ..ROW
    },
    Row {
        name: "node test runner",
        needs: &["node"],
        files: &[(
            "a.test.js",
            "require('node:test')('it adds', () => require('assert').equal(1 + 1, 2));\n",
        )],
        script: "node --test | grep -E '(pass|fail) [0-9]'",
        says: r"pass 1\n.* fail 0",
        ..ROW
    },
];

pub(super) const JAVA: &[Row] = &[
    Row {
        name: "java -version",
        needs: &["java"],
        script: "java -version 2>&1",
        says: r"version",
        ..ROW
    },
    Row {
        name: "javac",
        needs: &["java", "javac"],
        files: &[(
            "A.java",
            r#"
import java.util.stream.IntStream;
public class A {
    public static void main(String[] given) throws Exception {
        Thread thread = new Thread(() -> System.out.println("thread"));
        thread.start();
        thread.join();
        System.out.println(IntStream.rangeClosed(1, 100).parallel().sum());
        System.out.println(Runtime.getRuntime().availableProcessors());
    }
}
"#,
        )],
        script: "javac A.java && java -cp . A",
        says: r"^thread\n5050\n\d+\n$",
        ..ROW
    },
];
