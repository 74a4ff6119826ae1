# SPDX-License-Identifier: MIT
"""Random operations on sessions, beside a model of what must be true: a plain file system and process table in memory.

    python3 tests/soak/session_model.py [--sessions N] [--operations N | --seconds N] [--seed N]

Each session has a thread of its own; all share one engine. After every operation that changes files the answer is compared
with the model's, now and then the whole tree, the list of processes, a branch and a snapshot. The first difference ends
the program with the seed and the last operations; otherwise it prints what it did as one JSON object, with the
engine's memory over the time.
"""
import argparse
import errno
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python")]
import proc

NAMES = ("a", "b", "c", "long name", "\u00e9")
DEPTH = 3
ATTRIBUTES = ("user.a", "user.b")
LINKS_MAX = 40
TOP = "tree"        # the folder below which all happens


#: Sends back what it was sent, the last byte first.
SERVER = """
import socket, sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
stream = listening.accept()[0]
data = b""
while len(data) < int(sys.argv[2]):
    data += stream.recv(65536)
stream.sendall(data[::-1])
"""


class Node:
    """A file, folder or symbolic link."""

    def __init__(self, kind, mode=0o777, target=None):
        self.kind, self.mode, self.target = kind, mode, target
        self.data, self.children, self.attributes = bytearray(), {}, {}     # attributes: extended ones, by name


def fail(number):
    raise OSError(number, os.strerror(number))


class Model:
    """A file system in memory, with the errors of Linux."""

    def __init__(self):
        self.root = Node("folder", 0o755)      # where the sandbox's programs start
        self.root.children[TOP] = Node("folder", 0o755)

    def walk(self, path, follow, parent=False):
        """The node of a path below TOP, or with `parent` (folder, last name)."""
        parts, at, links = [TOP, *path.split("/")], [self.root], 0
        while parts:
            name = parts.pop(0)
            if at[-1].kind != "folder":
                fail(errno.ENOTDIR)
            if name in ("", "."):
                continue
            if name == "..":
                at = at[:-1] or fail(errno.ENOENT)
                continue
            if parent and not parts:
                return at[-1], name
            node = at[-1].children.get(name) or fail(errno.ENOENT)
            if node.kind == "link" and (parts or follow):
                links += 1
                if links > LINKS_MAX:
                    fail(errno.ELOOP)
                parts = node.target.split("/") + parts
                continue
            at.append(node)
        return (at[-1], "") if parent else at[-1]

    def file(self, path):
        node = self.walk(path, True)
        return fail(errno.EISDIR) if node.kind == "folder" else node

    def write(self, path, data):
        """Writes a whole file, through links; missing folders of the path are not made."""
        for _ in range(LINKS_MAX + 1):
            folder, name = self.walk(path, False, parent=True)
            if folder.kind != "folder":
                fail(errno.ENOTDIR)
            node = folder.children.get(name)
            if not node or node.kind != "link":
                break
            path = os.path.join(os.path.dirname(path), node.target)
        else:
            fail(errno.ELOOP)
        if node and node.kind == "folder":
            fail(errno.EISDIR)
        if not node:
            node = folder.children[name] = Node("regular", 0o644)
        node.data[:] = data

    def patch(self, path, offset, data):
        node = self.file(path)
        if len(node.data) < offset:
            node.data.extend(bytes(offset - len(node.data)))
        node.data[offset:offset + len(data)] = data

    def make(self, path, node):
        folder, name = self.walk(path, False, parent=True)
        if folder.kind != "folder":
            fail(errno.ENOTDIR)
        if name in folder.children:
            fail(errno.EEXIST)
        folder.children[name] = node

    def hard_link(self, target, path):
        node = self.walk(target, False)
        if path_exists(self, path):
            fail(errno.EEXIST)
        folder, name = self.walk(path, False, parent=True)
        if folder.kind != "folder":
            fail(errno.ENOTDIR)
        if node.kind == "folder":
            fail(errno.EPERM)
        folder.children[name] = node

    def remove(self, path, recursive):
        folder, name = self.walk(path, False, parent=True)
        node = folder.children.get(name) if folder.kind == "folder" else fail(errno.ENOTDIR)
        if not node:
            fail(errno.ENOENT)
        if node.kind == "folder" and node.children and not recursive:
            fail(errno.ENOTEMPTY)
        del folder.children[name]

    def rename(self, source, target):
        old, name = self.walk(source, False, parent=True)
        new, other = self.walk(target, False, parent=True)
        node = old.children.get(name) if old.kind == "folder" else fail(errno.ENOTDIR)
        there = new.children.get(other) if new.kind == "folder" else fail(errno.ENOTDIR)
        if not node:
            fail(errno.ENOENT)
        if node is there:
            return          # the same folder entry, or two names of one file: nothing happens
        if node.kind == "folder" and contains(node, new):
            fail(errno.EINVAL)
        if there and there.kind == "folder" and contains(there, old):
            fail(errno.ENOTEMPTY)
        if there and node.kind == "folder" and there.kind != "folder":
            fail(errno.ENOTDIR)
        if there and node.kind != "folder" and there.kind == "folder":
            fail(errno.EISDIR)
        if there and there.kind == "folder" and there.children:
            fail(errno.ENOTEMPTY)
        del old.children[name]
        new.children[other] = node

    def set_attribute(self, path, name, value):
        attributes = self.walk(path, True).attributes
        if value is not None:
            attributes[name] = value
        elif name in attributes:
            del attributes[name]
        else:
            fail(errno.ENODATA)

    def tree(self):
        """(path, kind, mode, content) of all."""
        found, waiting = [], [("", self.root.children[TOP])]
        while waiting:
            path, node = waiting.pop()
            for name, child in node.children.items():
                below = f"{path}/{name}" if path else name
                found.append((below, child.kind, child.mode if child.kind != "link" else 0,
                              bytes(child.data) if child.kind == "regular" else child.target))
                if child.kind == "folder":
                    waiting.append((below, child))
        return sorted(found)


def path_exists(model, path):
    try:
        model.walk(path, False)
    except OSError:
        return False
    return True


def contains(folder, node):
    return folder is node or any(contains(child, node) for child in folder.children.values() if child.kind == "folder")


class Difference(Exception):
    pass


class Session:
    """One sandbox and its model."""

    def __init__(self, fumehood, client, seed):
        self.fumehood, self.client = fumehood, client
        self.random, self.story, self.counts = random.Random(seed), [], {}
        self.box = fumehood.Sandbox(client=client, memory="256M", disk="64M", processes=64)
        self.begin()

    def begin(self):
        self.model, self.processes, self.context = Model(), {}, None
        self.box.files.make_folder(TOP, 0o755)
        self.box.files.change(TOP, mode=0o755)

    def path(self):
        return "/".join(self.random.choice(NAMES) for _ in range(self.random.randint(1, DEPTH)))

    def data(self):
        size = self.random.choice((0, 1, 10, 5000, 70000, 70000))
        return self.random.randbytes(size)

    def both(self, what, real, model, paths=()):
        """Does the same in the sandbox and in the model; compares the answers, or the errors. Where two paths are both wrong, either
        may be told."""
        self.story.append(what)
        expected = got = None
        try:
            expected = model()
        except OSError as e:
            expected = errno.errorcode[e.errno]
        try:
            got = real()
        except self.fumehood.Error as e:
            got = errno.errorcode.get(e.errno, repr(e))
        also = []
        for path in paths:
            try:
                self.model.walk(path, False, parent=True)
            except OSError as e:
                also.append(errno.errorcode[e.errno])
        if got not in also or expected is None:
            self.expect(expected, got)

    def expect(self, expected, got):
        if expected != got:
            raise Difference(f"expected {str(expected)[:600]!r}, got {str(got)[:600]!r}")

    # ---- operations; the name of each is counted

    def op_write(self):
        path, data = self.path(), self.data()

        def real():
            with self.box.files.open(f"{TOP}/{path}", "w") as f:
                f.write(data)
        self.both(("write", path, len(data)), real, lambda: self.model.write(path, data))

    def op_patch(self):
        path, data, offset = self.path(), self.data(), self.random.randint(0, 100000)

        def real():
            with self.box.files.open(f"{TOP}/{path}", "r+", offset=offset) as f:
                f.write(data)
        self.both(("patch", path, offset, len(data)), real, lambda: self.model.patch(path, offset, data) if data else self.model.file(path) and None)

    def op_read(self):
        path, offset, length = self.path(), self.random.randint(0, 80000), self.random.choice((0, 1, 1000, 100000))

        def real():
            with self.box.files.open(f"{TOP}/{path}", "r", offset=offset, length=length) as f:
                return f.read()
        self.both(("read", path, offset, length), real, lambda: bytes(self.model.file(path).data[offset:offset + length if length else None]))

    def op_folder(self):
        path = self.path()
        self.both(("folder", path), lambda: self.box.files.make_folder(f"{TOP}/{path}", 0o750, parents=False),
                  lambda: self.model.make(path, Node("folder", 0o750)))

    def op_link(self):
        path, target = self.path(), self.random.choice(("a", "b", "../a", "c/a", "./b", "nothing"))
        self.both(("link", path, target), lambda: self.box.files.link(target, f"{TOP}/{path}"),
                  lambda: self.model.make(path, Node("link", target=target)))

    def op_hard_link(self):
        path, target = self.path(), self.path()
        self.both(("hard link", path, target), lambda: self.box.files.link(f"{TOP}/{target}", f"{TOP}/{path}", symbolic=False),
                  lambda: self.model.hard_link(target, path), (path, target))

    def op_remove(self):
        path = self.path()
        self.both(("remove", path), lambda: self.box.files.remove(f"{TOP}/{path}"), lambda: self.model.remove(path, False))

    def op_remove_all(self):
        path = self.path()

        def model():
            if path_exists(self.model, path):
                self.model.remove(path, True)
        if self.random.random() < 0.3 and not self.through_file(path):
            self.both(("remove all", path), lambda: self.box.files.remove(f"{TOP}/{path}", recursive=True), model)

    def through_file(self, path):
        """Whether something before the last name is no folder."""
        try:
            folder, _ = self.model.walk(path, False, parent=True)
        except OSError as e:
            return e.errno != errno.ENOENT
        return folder.kind != "folder"

    def op_rename(self):
        source, target = self.path(), self.path()
        self.both(("rename", source, target), lambda: self.box.files.rename(f"{TOP}/{source}", f"{TOP}/{target}"),
                  lambda: self.model.rename(source, target), (source, target))

    def op_mode(self):
        path, mode = self.path(), self.random.choice((0o600, 0o644, 0o755))

        def model():
            node = self.model.walk(path, True)
            node.mode = mode if node.kind != "folder" else mode | 0o700
            return None
        try:
            folder = self.model.walk(path, True).kind == "folder"
        except OSError:
            folder = False
        self.both(("mode", path, mode), lambda: self.box.files.change(f"{TOP}/{path}", mode=mode | 0o700 if folder else mode), model)

    def op_size(self):
        path, size = self.path(), self.random.choice((0, 10, 90000))

        def model():
            node = self.model.file(path)
            del node.data[size:]
            node.data.extend(bytes(size - len(node.data)))
        self.both(("size", path, size), lambda: self.box.files.change(f"{TOP}/{path}", size=size), model)

    def op_attribute(self):
        path, name, value = self.path(), self.random.choice(ATTRIBUTES), self.random.choice((None, b"", b"x" * 480))
        self.both(("attribute", path, name, value), lambda: self.box.files.set_attribute(f"{TOP}/{path}", name, value),
                  lambda: self.model.set_attribute(path, name, value))
        self.both(("attributes", path), lambda: self.box.files.attributes(f"{TOP}/{path}"), lambda: self.model.walk(path, True).attributes)

    def op_program_writes(self):
        """A program sees what the client sees, and the other way round."""
        path, text = self.path(), str(self.random.random())

        def real():
            done = self.box.exec(["sh", "-c", 'printf %s "$2" > "$1"', "sh", f"{TOP}/{path}", text])
            return None if done.exit.ok else "refused"

        def model():
            try:
                self.model.write(path, text.encode())
            except OSError:
                return "refused"
        self.both(("program writes", path, text), real, model)

    def op_tree(self):
        def real():
            found = []
            for i in self.box.files.list(TOP, depth=0):
                content = i.target if i.type == "link" else self.box.files.read(f"{TOP}/{i.name}") if i.type == "regular" else None
                found.append((i.name, i.type, 0 if i.type == "link" else i.mode, content))
            return sorted(found)
        self.both(("tree",), real, self.model.tree)

    def op_spawn(self):
        if len(self.processes) < 6:
            tag = str(self.random.random())
            process = self.box.spawn(["sh", "-c", "read code; exit $code"], tag=tag, wall_time=None)
            self.processes[tag] = process
            self.story.append(("spawn", tag))

    def op_end(self):
        if self.processes:
            tag = self.random.choice(sorted(self.processes))
            process, how = self.processes.pop(tag), self.random.choice(("input", "kill", "end"))
            self.story.append(("end", tag, how))
            code = self.random.randint(0, 9)
            if how == "input":
                process.write(f"{code}\n")
            elif how == "kill":
                process.signal(signal.SIGKILL)
            else:
                process.close_stdin()
            exited = process.wait(60)
            seen = (exited.signal, exited.exit_code)
            if how == "kill":
                self.expect(9, seen[0])
            elif how == "input":
                self.expect(code, seen[1])

    def op_attach(self):
        """What a program writes is read by two, one after the other: no byte is lost, and none comes twice."""
        lines, part = self.random.randint(1, 20000), self.random.randint(0, 100000)
        self.story.append(("attach", lines, part))
        first, got = self.box.spawn(["seq", str(lines)], wall_time=None), b""
        while len(got) < part and (piece := first.read(part - len(got))):
            got += piece
        second = self.box.attach_process(first.id)
        while piece := second.read():
            got += piece
        self.expect("".join(f"{n}\n" for n in range(1, lines + 1)).encode(), got)
        self.expect(0, second.wait(60).exit_code)

    def op_command_limit(self):
        """A limit that ends a command names itself, and nothing else ends."""
        name, limits, argv = self.random.choice((("wall_time", {"wall_time": 0.1}, ["sleep", "60"]), ("output", {"output": 1000}, ["yes"]),
                                                 ("cpu_time", {"cpu_time": 0.05}, ["sh", "-c", "while :; do :; done"])))
        self.story.append(("command limit", name))
        self.expect([name], self.box.exec(argv, **limits).exit.fired)

    def op_port(self):
        """A server inside answers through the client, and is gone with its program."""
        if self.random.random() < 0.8:
            return
        port, data = self.random.randint(1024, 65535), self.random.randbytes(self.random.randint(1, 300000))
        self.story.append(("port", port, len(data)))
        server = self.box.spawn(["python3", "-c", SERVER, str(port), str(len(data))], wall_time=None)
        self.expect(b"listening\n", server.read(timeout=60))
        stream, got = self.box.connect(port), b""
        stream.write(data)
        while piece := stream.read(timeout=60):
            got += piece
        self.expect(data[::-1], got)
        self.expect(0, server.wait(60).exit_code)
        try:
            self.box.connect(port)
        except self.fumehood.Error:
            return
        raise Difference("a port without a server was connected to")

    def op_context(self):
        """A code context keeps its variables, and none has those of another session."""
        if not self.context and self.random.random() < 0.1:
            self.story.append(("context",))
            self.context, self.value = self.box.context(shell="small"), 0
            self.context.run("value = 0")
        elif self.context:
            add = self.random.randint(-5, 5)
            self.story.append(("context runs", add))
            self.value += add
            self.expect(str(self.value), self.context.run(f"value += {add}\nvalue").text)

    def op_processes(self):
        self.story.append(("processes",))
        listed = self.box.processes()
        gone = [(p.tag, p.exit) for p in listed if p.exit and p.tag in self.processes]
        tags = [*self.processes, *(["context"] if self.context else [])]
        self.expect((sorted(tags), []), (sorted(p.tag for p in listed if p.exit is None and p.tag), gone))

    def op_pause(self):
        self.story.append(("pause",))
        self.box.pause()
        self.expect(True, self.box.usage().paused)
        self.box.resume()
        self.expect(False, self.box.usage().paused)

    def op_branch(self):
        if self.random.random() < 0.3:
            self.story.append(("branch",))
            self.copied(self.box.branch())

    def op_snapshot(self):
        if self.random.random() < 0.3:
            self.story.append(("snapshot",))
            with tempfile.TemporaryFile() as file:
                self.expect(0, self.box.snapshot(file))
                file.seek(0)
                self.copied(self.fumehood.Sandbox.restore(file, client=self.client))

    def copied(self, other):
        """A copy has the same tree, no process, and what happens there stays there. Half of them are lived in from then on."""
        self.box, before, processes, self.processes = other, self.box, self.processes, {}
        context, self.context = self.context, None
        kept = False
        try:
            self.op_tree()
            self.op_processes()
            for path, kind, _mode, _content in self.model.tree():
                if kind != "link" and self.model.walk(path, False).attributes:
                    self.expect(self.model.walk(path, False).attributes, self.box.files.attributes(f"{TOP}/{path}"))
            kept = self.random.random() < 0.5
            if not kept:
                self.box.files.write(f"{TOP}/only here", b"x")
        finally:
            gone = before if kept else other
            if not kept:
                self.box, self.processes, self.context = before, processes, context
            gone.destroy()
        if not kept:
            self.op_tree()

    def op_anew(self):
        if self.random.random() < 0.05:
            self.story.append(("anew",))
            self.box.destroy()
            self.box = self.fumehood.Sandbox(client=self.client, memory="256M", disk="64M", processes=64)
            self.begin()

    def step(self):
        operations = [name for name in dir(self) if name.startswith("op_")]
        name = self.random.choice(operations)
        self.counts[name[3:]] = self.counts.get(name[3:], 0) + 1
        getattr(self, name)()
        del self.story[:-60]

    def close(self):
        self.box.destroy()


def engine_memory(pid):
    """Bytes of memory that an engine wrote itself; 0: it has ended. An engine's smaps are root's alone to read."""
    lines = proc.read(pid, "status").decode().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) * 1024


def children():
    """Processes that descend from this one: {pid: name}."""
    return {pid: proc.name(pid) for pid in proc.descendants()}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--sessions", type=int, default=20)
    p.add_argument("--operations", type=int, default=0, help="of each session; 0: until the time is over")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=int(time.time()))
    options = p.parse_args()
    import fumehood
    client = fumehood.Client()
    began, wrong, lock, counts = time.monotonic(), [], threading.Lock(), {}

    def live(number):
        session = Session(fumehood, client, options.seed * 1000 + number)
        done = 0
        try:
            while not wrong and (done < options.operations if options.operations else time.monotonic() - began < options.seconds):
                session.step()
                done += 1
        except BaseException as e:  # noqa: B902  any end but the expected one is told
            with lock:
                wrong.append(f"session {number}, seed {options.seed}: {type(e).__name__}: {e}\n  "
                             + "\n  ".join(map(str, session.story)))
        finally:
            with lock:
                for name, n in session.counts.items():
                    counts[name] = counts.get(name, 0) + n
            session.close()

    threads = [threading.Thread(target=live, args=(i,)) for i in range(options.sessions)]
    for t in threads:
        t.start()
    engines = [pid for pid, name in children().items() if name.startswith("fumehood-engin")]
    memory = []         # of the engines, a sample for each twentieth of the time
    while any(t.is_alive() for t in threads):
        time.sleep(0.2)
        if time.monotonic() - began > options.seconds / 20 * (len(memory) + 1):
            memory.append(sum(map(engine_memory, engines)))
    for t in threads:
        t.join()
    memory.append(sum(map(engine_memory, engines)))
    client.close()
    deadline = time.monotonic() + 30
    while children() and time.monotonic() < deadline:
        time.sleep(0.1)
    print(json.dumps({"seed": options.seed, "seconds": round(time.monotonic() - began, 1), "operations": sum(counts.values()), "counts": counts,
                      "engine_bytes": memory, "left": sorted(map(str, children().values())),
                      "differences": wrong}, indent=1))
    return 1 if wrong or children() else 0


if __name__ == "__main__":
    sys.exit(main())
