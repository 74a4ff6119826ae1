# SPDX-License-Identifier: MIT
"""Groups: programs in sandboxes of their own that are connected only by pipes (docs/protocol.md), tested by a client of
its own."""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(__file__))
import support
import test_protocol as proto
from test_protocol import Client, ERROR, RESULT, RUN, STARTED, frame, message, number

F_MEMBER, F_LINK, F_LEADER, F_FROM, F_FROM_DESCRIPTOR, F_TO, F_TO_DESCRIPTOR = range(38, 45)
F_STOPPED = 111
IN, OUT, DRIVER = range(3)
KIND_STDOUT, KIND_DRIVER = 1, 4


def plan(script, *descriptors, **limits):
    return proto.plan(script, **limits) + message(*[(19, message((1, n), (2, kind))) for n, kind in descriptors])


def link(a, a_fd, b, b_fd):
    return F_LINK, message((F_FROM, a), (F_FROM_DESCRIPTOR, a_fd), (F_TO, b), (F_TO_DESCRIPTOR, b_fd))


def group(plans, *links, leader=None):
    more = [(F_LEADER, leader)] if leader is not None else []
    return message(*[(F_MEMBER, message((proto.F_PLAN, p))) for p in plans], *links, *more)


class Member:
    def __init__(self):
        self.streams, self.kinds, self.exit, self.error = {}, {}, None, None

    def stream(self, kind):
        return self.streams.get(self.kinds.get(kind), b"")

    @property
    def ended(self):
        """The status, and whether the leader's end was its cause."""
        return number(self.exit, proto.F_STATUS), bool(number(self.exit, F_STOPPED))


def collect(client, count, first=1):
    """All answers to a group whose frame carried the number `first`."""
    members = [Member() for _ in range(count)]
    while any(m.exit is None and m.error is None for m in members):
        f = client.next()
        if f is None:
            raise EOFError("the engine closed the connection")
        if f.kind == proto.DATA:
            for m in members:
                if f.id in m.streams:
                    m.streams[f.id] += f.payload[8:]
            continue
        if not first <= f.request < first + count:
            continue
        m = members[f.request - first]
        if f.kind == STARTED:
            m.kinds = {kind: ident for kind, (ident, _) in proto.streams(f).items()}
            m.streams = {ident: b"" for ident in m.kinds.values()}
        elif f.kind == RESULT:
            m.exit = next(v for t, v in proto.fields(f.payload) if t == proto.F_EXIT)
        elif f.kind == ERROR:
            m.error = f
    return members


def run(plans, *links, leader=None):
    with Client() as c:
        c.send(frame(RUN, group(plans, *links, leader=leader), 1))
        return collect(c, len(plans))


ASK = "echo 'what is it?' >&4; read answer <&3; echo \"got $answer\""
ANSWER = "read question <&3; echo \"asked: $question\"; echo 42 >&4"
BOTH = (3, IN), (4, OUT)
JOINED = link(0, 4, 1, 3), link(1, 4, 0, 3)


class Links(unittest.TestCase):
    def test_what_one_writes_the_other_reads(self):
        a, b = run([plan(ASK, *BOTH), plan(ANSWER, *BOTH)], *JOINED)
        self.assertEqual(a.stream(KIND_STDOUT), b"got 42\n")
        self.assertEqual(b.stream(KIND_STDOUT), b"asked: what is it?\n")
        self.assertEqual((a.ended, b.ended), ((0, False), (0, False)))

    def test_a_driver_stream_comes_to_the_client_and_only_there(self):
        (a,) = run([plan("echo out; echo for the driver >&5", (5, DRIVER))])
        self.assertEqual(a.stream(KIND_DRIVER), b"for the driver\n")
        self.assertEqual(a.stream(KIND_STDOUT), b"out\n")

    def test_a_single_run_may_have_a_driver_stream(self):
        with Client() as c:
            c.send(frame(RUN, message((proto.F_PLAN, plan("echo x >&9", (9, DRIVER)))), 1))
            self.assertEqual(collect(c, 1)[0].stream(KIND_DRIVER), b"x\n")

    def test_a_program_has_these_descriptors_and_no_others(self):
        script = "ls /proc/self/fd | tr '\\n' ' '"  # of ls: its own folder is the one more
        (alone,) = run([plan(script)])
        a, _ = run([plan(script, (5, DRIVER), *BOTH), plan("cat <&3", *BOTH)], *JOINED)
        self.assertEqual(alone.stream(KIND_STDOUT), b"0 1 2 3 ")
        self.assertEqual(a.stream(KIND_STDOUT), b"0 1 2 3 4 5 6 ")

    def test_the_end_of_one_is_the_end_of_file_of_the_other(self):
        a, b = run([plan("exit 3", *BOTH), plan("cat <&3; echo over", *BOTH)], *JOINED)
        self.assertEqual(b.stream(KIND_STDOUT), b"over\n")
        self.assertEqual((a.ended, b.ended), ((1, False), (0, False)))

    def test_a_member_sees_neither_processes_nor_files_of_another(self):
        script = "echo secret > /tmp/f; echo >&4; read x <&3; ls /tmp; ls -d /proc/[0-9]* | wc -l"
        wait = "read x <&3; echo; ls /tmp; ls -d /proc/[0-9]* | wc -l; echo >&4"
        a, b = run([plan(script, *BOTH), plan(wait, *BOTH)], *JOINED)
        self.assertEqual(b.stream(KIND_STDOUT).split()[:-1], [])
        self.assertLessEqual(int(b.stream(KIND_STDOUT).split()[-1]), 4)
        self.assertEqual(a.stream(KIND_STDOUT).split()[0], b"f")  # the control: its own it does see

    def test_more_than_a_pipe_holds_goes_through(self):
        a, b = run([plan("head -c 3000000 /dev/zero >&4", (4, OUT)), plan("wc -c <&3", (3, IN))], link(0, 4, 1, 3))
        self.assertEqual(b.stream(KIND_STDOUT).strip(), b"3000000")

    def test_limits_on_descriptors_leave_room_for_those_of_the_plan(self):
        (a,) = run([plan("exec ls /proc/self/fd", (9, DRIVER), open_files=8)])
        self.assertEqual(a.stream(KIND_STDOUT).split(), [b"0", b"1", b"2", b"3", b"9"])


class Leader(unittest.TestCase):
    def test_its_end_ends_the_others_and_says_so(self):
        t = time.monotonic()
        a, b = run([plan("read x <&3", *BOTH), plan("sleep 30 & echo up >&4; sleep 30", *BOTH)], *JOINED, leader=0)
        self.assertLess(time.monotonic() - t, 28, "before the sleep is over")
        self.assertEqual((a.ended, b.ended), ((0, False), (1, True)))

    def test_the_end_of_another_ends_nobody(self):
        a, b = run([plan("cat <&3; sleep 0.1; echo done", *BOTH), plan("exit 7", *BOTH)], *JOINED, leader=0)
        self.assertEqual(a.stream(KIND_STDOUT), b"done\n")
        self.assertEqual((a.ended, b.ended), ((0, False), (1, False)))

    def test_one_that_ended_before_the_leader_keeps_its_own_end(self):
        _, b = run([plan("cat <&3; sleep 0.2", *BOTH), plan("kill -9 $$", *BOTH)], *JOINED, leader=0)
        self.assertEqual(b.ended, (1, False))

    def test_a_leader_that_hits_a_limit_ends_the_others(self):
        a, b = run([plan("sleep 30", *BOTH, wall_time=300), plan("sleep 30", *BOTH)], *JOINED, leader=0)
        self.assertEqual((a.ended, b.ended), ((4, False), (1, True)))

    def test_a_leader_that_is_gone_at_once_leaves_nobody_behind(self):
        for _ in range(20):
            a, b = run([plan("exit 0", *BOTH), plan("sleep 30", *BOTH)], *JOINED, leader=0)
            self.assertEqual((a.ended, b.ended), ((0, False), (1, True)))


class Failures(unittest.TestCase):
    def refused(self, plans, *links, leader=None):
        members = run(plans, *links, leader=leader)
        self.assertTrue(all(m.error is not None for m in members), members)
        return [proto.text(m.error.payload, proto.F_MESSAGE) for m in members]

    def test_links_that_do_not_fit_the_plans_are_refused_for_every_member(self):
        two = [plan(ASK, *BOTH), plan(ANSWER, *BOTH)]
        for links in ([link(0, 4, 2, 3)], [link(0, 3, 1, 3)], [link(0, 5, 1, 3)], [JOINED[0], JOINED[0]],
                      [link(0, 4, 1, 2 ** 40)], [link(0, 4, 0, 3), link(1, 4, 0, 3)]):
            self.assertIn("link", self.refused(two, *links)[0])

    def test_a_descriptor_without_a_link_is_refused(self):
        self.assertIn("has no link", " ".join(self.refused([plan(ASK, *BOTH), plan(ANSWER, *BOTH)], JOINED[0])))
        with Client() as c:
            c.send(frame(RUN, message((proto.F_PLAN, plan("true", (3, IN)))), 1))
            self.assertIn("has no link", proto.text(collect(c, 1)[0].error.payload, proto.F_MESSAGE))

    def test_plans_with_bad_descriptors_are_refused(self):
        for bad in ([(2, DRIVER)], [(10, DRIVER)], [(5, DRIVER), (5, OUT)], [(5, DRIVER), (6, DRIVER)], [(5, 9)],
                    [(n, OUT) for n in range(3, 11)]):
            self.refused([plan("true", *bad)])

    def test_a_member_that_cannot_start_fails_the_others(self):
        broken = proto.plan("true").replace(b"/bin/sh", b"/bin/sx") + message((19, message((1, 3), (2, IN))))
        a, b = run([plan("sleep 30", (4, OUT)), broken], link(0, 4, 1, 3), leader=0)
        self.assertIn("another member", proto.text(a.error.payload, proto.F_MESSAGE))
        self.assertIn("/bin/sx", proto.text(b.error.payload, proto.F_MESSAGE))

    def test_one_member_that_is_cancelled_fails_the_others_and_nothing_is_left(self):
        with Client() as c:
            c.send(frame(RUN, group([plan("sleep 30", *BOTH), plan("sleep 30", *BOTH)], *JOINED), 1))
            c.answer(1, STARTED)
            c.send(frame(proto.CANCEL, b"", 2))
            members = collect(c, 2)
            self.assertTrue(all(m.error is not None for m in members))
            self.assertEqual(c.ask(9, proto.LIST).payload, b"")

    def test_a_malformed_group_is_answered_and_the_connection_goes_on(self):
        with Client() as c:
            for i, payload in enumerate((message((F_MEMBER, b"")), message((F_MEMBER, b"\1\0\0\0\xff\xff\xff\xff")),
                                         message(*[(F_MEMBER, message((proto.F_PLAN, plan("true"))))] * 9)), 1):
                self.assertEqual(c.ask(100 * i, RUN, payload).kind, ERROR)
            self.assertEqual(c.ask(999, proto.LIST).payload, b"")

    def test_a_client_that_goes_takes_the_group_with_it(self):
        with Client() as c:
            c.send(frame(RUN, group([plan("sleep 31.5", *BOTH), plan("sleep 31.5", *BOTH)], *JOINED), 1))
            c.answer(2, STARTED)
            c.process.stdin.close()
            self.assertEqual(c.process.wait(20), 0)


class PlanOnTheCommandLine(support.TempDir):
    def test_a_driver_stream_is_shown_in_the_result_and_not_on_stdout(self):
        done = support.command("run", "--explain", "-l", "bash", "-c", "echo out; echo told >&5")
        text = done.stdout.replace('"descriptors": []', '"descriptors": [{"number": 5, "kind": "driver"}]')
        path = self.write("plan.json", text[text.index("{"):])
        self.assertEqual(support.run("--plan", path)["driver"], "told\n")
        self.assertEqual(support.command("run", "--plan", path).stdout, "out\n")
        self.assertNotIn("driver", support.run("-l", "bash", "-c", "echo"))

    def test_every_start_path_gives_a_program_its_descriptors(self):
        for descriptor in range(3, 10):
            for start in ("fresh", "zygote", "parked"):
                code = f"import os; os.write({descriptor}, b'told')"
                text = support.command("run", "--explain", "--start", start, "-l", "python", "-c", code).stdout
                text = text.replace('"descriptors": []', f'"descriptors": [{{"number": {descriptor}, "kind": "driver"}}]')
                path = self.write("plan.json", text[text.index("{"):])
                result = support.run("--plan", path)
                self.assertEqual((result.get("driver"), result["start"]["path"]), ("told", start), result["stderr"])

    def test_a_kind_that_is_none_is_told_with_its_place(self):
        text = support.command("run", "--explain", "-l", "bash", "-c", "echo").stdout
        text = text.replace('"descriptors": []', '"descriptors": [{"number": 5, "kind": "drive"}]')
        done = support.command("run", "--plan", self.write("plan.json", text[text.index("{"):]))
        self.assertIn("in, out or driver", done.stderr)


if __name__ == "__main__":
    unittest.main()
