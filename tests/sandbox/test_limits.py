# SPDX-License-Identifier: MIT
"""Every limit, in every language where it makes sense: what stops a program, what the result says of it, and that
what lies within a limit is left alone.

Where the host gives no cgroups, CPU time and memory of the tree are looked at every 10 ms ("bounded"); the bounds that
are asserted follow what the result says of itself under `limits.NAME.enforced`.
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import proc
import support
from inside import INIT, bash, c, cpp, enforced, javascript, marker, python, story


MB = 1 << 20


class Limit(support.TempDir):
    def check(self, result, status, *fired):
        self.assertEqual(result["status"], status, story(result))
        for limit in fired:
            self.assertIn(limit, result["fired"], story(result))
        return result


class CpuTime(Limit):
    """CPU time is that of the whole tree, and it decides: the program is stopped within 10 ms of it."""
    MS = 300
    ARGS = ("--cpu-time", "0.3", "--wall-time", "100")

    def stopped(self, result):
        self.check(result, "cpu_time_limit", "cpu_time")
        self.assertEqual((result["exit_code"], result["signal"]), (None, "SIGKILL"))
        self.assertGreaterEqual(result["usage"]["cpu_ms"], self.MS * 0.95)
        # sampling: 10 ms on each processor, and what the machine's other work delays the sampler by
        slack = support.bound(10) if enforced(result, "cpu_time") == "exact" else 1000
        self.assertLess(result["usage"]["cpu_ms"], self.MS + slack, story(result))

    def test_a_busy_loop(self):
        for run, code in ((python, "while True: pass"), (bash, "while :; do :; done"), (c, "int main(){for(;;);}"),
                          (cpp, "int main(){for(volatile int i = 0;; i = i + 1);}"), (javascript, "for(;;);")):
            with self.subTest(run.__name__):
                self.stopped(run(code, *self.ARGS))

    def test_many_busy_children_count_together(self):
        self.stopped(python("import os\nfor _ in range(8):\n    if os.fork() == 0:\n        while True: pass\n"
                            "os.wait()",
                            *self.ARGS))
        self.stopped(c("#include <unistd.h>\nint main(){for(int i=0;i<6;i++) if(!fork()) for(;;); pause();}",
                       *self.ARGS))

    def test_busy_threads_count_together(self):
        self.stopped(c("#include <pthread.h>\n#include <unistd.h>\nvoid *f(void *p){for(;;);}\n"
                       "int main(){pthread_t t;for(int i=0;i<4;i++)pthread_create(&t,0,f,0);pause();}", *self.ARGS))
        self.stopped(cpp("#include <thread>\nint main(){for(int i=0;i<4;i++)"
                         "std::thread([]{for(volatile int i = 0;; i = i + 1);}).detach();for(;;);}", *self.ARGS))
        self.stopped(javascript("const {Worker}=require('worker_threads');for(let i=0;i<3;i++)"
                                "new Worker('for(;;);',{eval:true})", *self.ARGS))

    def test_children_whose_parents_died_count(self):
        self.stopped(bash("for i in 1 2 3; do (setsid bash -c 'while :; do :; done' & ); done; sleep 30", *self.ARGS))

    def test_children_that_come_and_go_count(self):
        self.stopped(c("#include <unistd.h>\n#include <sys/wait.h>\nint main(){for(;;){if(!fork())"
                       "{for(volatile int i=0;i<3000000;i++);_exit(0);}wait(0);}}", *self.ARGS))

    def test_time_in_the_kernel_counts(self):
        r = python("f=open('/dev/zero','rb',buffering=0)\nwhile True: f.read(1 << 20)", *self.ARGS)
        self.stopped(r)
        if r["limits"]["memory"]["enforced"] == "exact":     # where the kernel splits it exactly enough to look at
            self.assertGreater(r["usage"]["cpu_sys_ms"], 0)

    def test_a_program_that_ignores_signals_and_sets_timers(self):
        self.stopped(python("""
            import resource, signal
            for s in range(1, 65):
                try: signal.signal(s, signal.SIG_IGN)
                except (OSError, ValueError): pass
            for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF): signal.setitimer(which, 0.01, 0.01)
            resource.setrlimit(resource.RLIMIT_CPU, (resource.getrlimit(resource.RLIMIT_CPU)[1],) * 2)
            while True: pass""".replace("\n            ", "\n"), *self.ARGS))

    def test_a_program_that_stays_below_it_is_left_alone(self):
        r = python("import time\nwhile time.process_time() < 0.3: pass\nprint('done')", "--cpu-time", "2")
        self.check(r, "ok")
        self.assertEqual((r["stdout"], r["fired"]), ("done\n", []))


class WallTime(Limit):
    MS = 400
    ARGS = ("--wall-time", "0.4")

    def stopped(self, result):
        self.check(result, "wall_time_limit", "wall_time")
        self.assertGreaterEqual(result["usage"]["wall_ms"], self.MS)
        # None goes on: they would for a minute. How exact the limit is, the least delayed of all shows: one timer ends
        # each of them, and what a busy machine adds differs from one to the next.
        self.assertLess(result["usage"]["wall_ms"], self.MS + 30000, story(result))
        self.over.append(result["usage"]["wall_ms"] - self.MS)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.over = []

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if cls.over and min(cls.over) >= support.bound(10):
            raise AssertionError(f"each was ended late, by (ms): {cls.over}")

    def test_a_sleeper(self):
        for run, code in ((python, "import time; time.sleep(60)"), (bash, "sleep 60"),
                          (javascript, "setTimeout(() => {}, 60000)"),
                          (c, "#include <unistd.h>\nint main(){for(;;)pause();}"),
                          (cpp, "#include <thread>\nint main(){std::this_thread::sleep_for(std::chrono::hours(1));}")):
            with self.subTest(run.__name__):
                self.stopped(run(code, *self.ARGS))

    def test_a_sleeper_that_ignores_every_signal(self):
        self.stopped(python("import signal, time\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
                            "    except (OSError, ValueError): pass\nwhile True: time.sleep(1)", *self.ARGS))

    def test_a_program_that_stops_itself(self):
        self.stopped(python("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", *self.ARGS))

    def test_a_program_that_holds_the_pipe_of_its_output(self):
        """By calls that wait for a socket with the pipe locked; the engine, which reads it, would wait as well, whom no signal ends."""
        for call in ("libc.splice(s[0].fileno(), None, 1, None, 1, 0)", "libc.sendfile(1, s[0].fileno(), None, 1)"):
            self.stopped(python("import ctypes, os, socket, time\nlibc = ctypes.CDLL(None)\ns = socket.socketpair()\n"
                                f"os.write(1, b'x')\n{call}\nos.write(1, b'y')\ntime.sleep(60)", *self.ARGS))

    def test_a_program_that_closes_its_output_and_goes_on(self):
        self.stopped(python("import os, time\nfor fd in range(3): os.close(fd)\ntime.sleep(60)", *self.ARGS))

    def test_a_program_that_waits_for_input_that_never_comes(self):
        read, write = os.pipe()
        try:
            done = support.command("run", *self.ARGS, "-l", "bash", "-c", "read x", stdin=read)
        finally:
            os.close(read)
            os.close(write)
        self.assertEqual(done.returncode, 124, done.stderr)

    def test_a_fraction_of_a_second_is_enough_for_what_is_quick(self):
        self.check(bash("echo quick", "--wall-time", "5"), "ok")


class Memory(Limit):
    """Memory is that of the whole tree, with files in memory and the writable folders."""
    LIMIT = 64 * MB
    ARGS = ("--memory", "64M", "--wall-time", "100", "--disk", "512M", "--cpu-time", "20")

    def stopped(self, result):
        self.check(result, "memory_limit", "memory")
        exact = enforced(result, "memory") == "exact"
        # what a program can touch until it is seen, 10 ms later or when the machine lets the sampler run
        self.assertLessEqual(result["usage"]["memory_peak_bytes"], self.LIMIT + (0 if exact else 256 * MB),
                             story(result))

    def test_one_process_that_takes_ever_more(self):
        for run, code in ((python, "x = []\nwhile True: x.append(bytearray(b'x' * (1 << 18)))"),
                          (bash, "x=0123456789abcdef; while :; do x=$x$x; done"),
                          (c, "#include <stdlib.h>\n#include <string.h>\nint main(){for(;;){char *p=malloc(1<<18);"
                              "if(p)memset(p,1,1<<18);}}"),
                          (cpp, "#include <list>\n#include <vector>\nint main(){std::list<std::vector<char>> l;"
                                "for(;;) try { l.emplace_back(1<<18,'x'); } catch (...) {}}")):
            with self.subTest(run.__name__):
                self.stopped(run(code, *self.ARGS))

    def test_one_that_is_faster_than_whoever_looks(self):
        """Without a control group it ends by itself, when its allocations fail: here because init is kept from looking."""
        word = marker()
        # 2 GiB and more are taken until an allocation fails, which is long on a busy machine
        run = subprocess.Popen([support.PROGRAM, "run", "--json", *self.ARGS, "--wall-time", "120", "--command", "--", support.PYTHON, "-c",
                                "import time\ntime.sleep(2)\nx = []\nwhile True: x.append(bytearray(b'x' * (1 << 18)))", word],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)

        def program():
            return [pid for pid in proc.with_word(word) if pid != run.pid and proc.name(pid).startswith("python")]
        found = support.wait_for(program, 20)
        self.assertEqual(len(found), 1)
        init = proc.parent(found[0])
        self.assertTrue(proc.name(init).startswith(INIT), proc.name(init))
        proc.kill(init, signal.SIGSTOP)
        try:
            self.assertTrue(support.wait_for(lambda: not program(), support.TIMEOUT))
        finally:
            proc.kill(init, signal.SIGCONT)
        self.check(json.loads(run.communicate(timeout=support.TIMEOUT)[0]), "memory_limit", "memory")

    def test_time_that_goes_to_reading_files_again_is_a_lack_of_memory(self):
        """What is mapped of a file goes first when memory runs short. The control: a limit with room for both."""
        big = os.path.join(self.dir, "big")
        with open(big, "wb") as f:
            f.write(os.urandom(24 * MB))
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)      # its pages count for who reads them first
        if subprocess.check_output(["stat", "-f", "-c", "%T", big], text=True).strip() in ("tmpfs", "ramfs"):
            self.skipTest("temporary files are in memory here")
        code = ("#include <fcntl.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n"
                "int main(void){size_t own=28<<20,size=24<<20; char *m=malloc(own); for(size_t i=0;i<own;i+=4096)((volatile char*)m)[i]=1;"
                "char *p=mmap(0,size,PROT_READ,MAP_PRIVATE,open(\"/big\",O_RDONLY),0);"
                "for(unsigned s=1;;){s=s*1103515245+12345; *(volatile char*)(p+(size_t)(s>>9)*4096%size);}}")
        for memory, status in (("34M", "memory_limit"), ("96M", "cpu_time_limit")):
            with self.subTest(memory):
                r = c(code, "--memory", memory, "--cpu-time", "0.6", "--wall-time", "100", "--mount", f"{big}:/big")
                if enforced(r, "memory") != "exact":
                    self.skipTest("needs a cgroup: without one, pages of files are nobody's")
                self.check(r, status, "cpu_time")

    def test_javascript_that_takes_ever_more(self):
        r = javascript("const x=[]; for(;;) x.push(Buffer.alloc(1<<18, 1))", "--memory", "160M", "--cpu-time", "60", "--wall-time", "100")
        self.check(r, "memory_limit", "memory")

    def test_many_small_processes_count_together(self):
        self.stopped(python("import os, time\nfor _ in range(40):\n    if os.fork() == 0:\n"
                            "        x = bytearray(b'x' * (8 << 20)); time.sleep(30)\ntime.sleep(30)", *self.ARGS))

    def test_files_in_memory_count(self):
        self.stopped(python("import os\nfds = []\nwhile True:\n    fds.append(os.memfd_create('x'))\n"
                            "    os.write(fds[-1], b'x' * (1 << 20))", *self.ARGS))

    # A sample looks at 4,096 descriptors (src/init/memfds.c), so these take more than one.
    MANY = ("import os, time\nfiles = [os.memfd_create('x') for _ in range(%d)]\nfor f in files: os.write(f, b'x' * %d)\n"
            "for _ in range(8):\n    if os.fork() == 0:\n        %s\n        time.sleep(%s)\n        os._exit(0)\n"
            "for _ in range(8): os.wait()\n")

    def test_files_in_memory_of_more_processes_than_one_sample_looks_at_count(self):
        more = "more = [os.memfd_create('y') for _ in range(900)]; [os.write(f, b'x' * (16 << 10)) for f in more]"
        self.stopped(python(self.MANY % (1, 1, more, 30), *self.ARGS))

    def test_files_in_memory_that_many_processes_hold_count_once(self):
        r = python(self.MANY % (900, 32 << 10, "pass", 0.5), "--memory", "160M")
        self.assertEqual(r["status"], "ok", story(r))

    def test_a_file_in_memory_that_is_only_mapped_counts(self):
        self.stopped(python("import mmap, os\nmaps = []\nwhile True:\n"
                            "    fd = os.memfd_create('x'); os.ftruncate(fd, 4 << 20)\n"
                            "    maps.append(mmap.mmap(fd, 4 << 20)); os.close(fd)\n"
                            "    maps[-1].write(b'x' * (4 << 20))",
                            *self.ARGS))

    def test_files_in_the_writable_folders_count(self):
        for folder in (".", "/tmp", "/dev/shm"):
            with self.subTest(folder):
                self.stopped(python(f"f = open('{folder}/big', 'wb', buffering=0)\n"
                                    f"while True: f.write(b'x' * (1 << 18))",
                                    *self.ARGS))

    def test_mapped_memory_counts_private_and_shared(self):
        for flags in ("MAP_PRIVATE", "MAP_SHARED"):
            with self.subTest(flags):
                self.stopped(python("import mmap\nx = []\nwhile True:\n"
                                    f"    x.append(mmap.mmap(-1, 1 << 20, flags=mmap.{flags} | mmap.MAP_ANONYMOUS))\n"
                                    "    x[-1].write(b'x' * (1 << 20))", *self.ARGS))

    def test_shared_segments_count_even_when_nobody_is_attached(self):
        self.stopped(c("#include <sys/shm.h>\n#include <string.h>\n"
                       "int main(){for(;;){int i=shmget(IPC_PRIVATE,1<<20,0600);"
                       "char *p=shmat(i,0,0);if(p!=(char*)-1){memset(p,1,1<<20);shmdt(p);}}}", *self.ARGS))

    def test_pipes_count(self):
        r = python("import fcntl, os\np = []\nfor _ in range(60):\n"
                   "    p.append(os.pipe()); os.set_blocking(p[-1][1], False)\n"
                   "    fcntl.fcntl(p[-1][1], 1031, 1 << 20)\n    os.write(p[-1][1], b'x' * (1 << 20))\nprint('all')",
                   "--memory", "32M")
        if enforced(r, "memory") != "exact":
            self.skipTest("needs a cgroup: nothing else counts the kernel's buffers")
        self.check(r, "memory_limit", "memory")

    def test_memory_within_the_limit_is_there(self):
        r = python("x = b'1' * (40 << 20); print(len(x))", *self.ARGS)
        self.check(r, "ok")
        self.assertEqual(r["stdout"], f"{40 * MB}\n")
        self.assertGreaterEqual(r["usage"]["memory_peak_bytes"], 40 * MB)
        self.assertLessEqual(r["usage"]["memory_peak_bytes"], 64 * MB)

    def test_memory_that_is_shared_counts_once(self):
        code = ("import mmap, os, time\nm = mmap.mmap(-1, 40 << 20)\nm.write(b'x' * (40 << 20))\n"
                "for _ in range(4):\n    if os.fork() == 0:\n"
                "        sum(m[i] for i in range(0, len(m), 4096)); os._exit(0)\n"
                "for _ in range(4): os.wait()\ntime.sleep(0.1)\nprint('once')")
        r = python(code, "--memory", "192M")
        self.check(r, "ok")
        self.assertEqual(r["stdout"], "once\n")

    def test_memory_of_a_process_that_starts_others_counts_once(self):
        """Until its execve, a process that vfork made has the memory of its parent."""
        r = c("#define _GNU_SOURCE\n#include <sched.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/wait.h>\n"
              "#include <unistd.h>\nstatic char stack[1 << 16];\nstatic int child(void *p) { usleep(300000); _exit(0); }\n"
              "int main() { char *m = malloc(100 << 20); memset(m, 1, 100 << 20);\n"
              "    clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, 0); wait(0); puts(m ? \"once\" : 0); }",
              "--memory", "160M")
        self.check(r, "ok")
        self.assertEqual(r["stdout"], "once\n")
        self.assertLess(r["usage"]["memory_peak_bytes"], 160 * MB)

    def test_address_space_that_is_not_used_is_free(self):
        r = c("#include <stdio.h>\n#include <sys/mman.h>\nint main(){void *p=mmap(0,8UL<<30,PROT_NONE,"
              "MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE,-1,0);puts(p==MAP_FAILED?\"refused\":\"reserved\");}",
              *self.ARGS)
        self.assertEqual((r["status"], r["stdout"]), ("ok", "reserved\n"))
        r = javascript("console.log('node starts')", "--memory", "192M")
        self.assertEqual((r["status"], r["stdout"]), ("ok", "node starts\n"), story(r))


class Processes(Limit):
    """Reaching it makes fork fail, which the result lists; it does not by itself end the run. (The programs here go on
    for a moment after it: without cgroups the limit is as exact, but it is seen by looking, every 10 ms.)"""
    LIMIT = 16
    ARGS = ("--processes", "16", "--wall-time", "100", "--cpu-time", "5")

    def listed(self, result):
        self.assertIn("processes", result["fired"], story(result))
        peak = result["usage"]["processes_peak"]
        self.assertTrue(peak is None or peak <= self.LIMIT, story(result))

    def test_fork_fails_and_the_program_goes_on(self):
        r = python("import os, time\nn = 0\ntry:\n    while True:\n"
                   "        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
                   "        n += 1\nexcept OSError as e: print(n, e.errno); time.sleep(0.5)", *self.ARGS)
        self.check(r, "ok")
        self.listed(r)
        count, errno = map(int, r["stdout"].split())
        self.assertEqual((count, errno), (self.LIMIT - 1, 11))
        r = c("#include <errno.h>\n#include <stdio.h>\n#include <unistd.h>\n"
              "int main(){int n=0,p;while((p=fork())>0)n++;"
              "if(!p)pause();printf(\"%d %d\\n\",n,errno);usleep(500000);}", *self.ARGS)
        self.assertEqual((r["status"], r["stdout"]), ("ok", f"{self.LIMIT - 1} 11\n"), story(r))
        self.listed(r)

    def test_threads_are_counted(self):
        r = c("#include <errno.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n"
              "void *f(void *p){pause();}\nint main(){pthread_t t;int n=0,e;while(!(e=pthread_create(&t,0,f,0)))n++;"
              "printf(\"%d %d\\n\",n,e);fflush(0);usleep(500000);_exit(0);}", *self.ARGS)
        self.assertEqual((r["status"], r["stdout"]), ("ok", f"{self.LIMIT - 1} 11\n"), story(r))
        self.listed(r)
        r = cpp("#include <cstdlib>\n#include <exception>\n#include <thread>\n#include <unistd.h>\nint main(){"
                "std::set_terminate([]{usleep(500000);abort();});for(;;)std::thread([]{pause();}).detach();}",
                *self.ARGS)
        self.check(r, "process_limit")
        self.assertEqual(r["signal"], "SIGABRT")
        self.listed(r)
        r = python("import threading, time\ndef f(): time.sleep(30)\ntry:\n"
                   "    while True: threading.Thread(target=f, daemon=True).start()\nfinally: time.sleep(0.5)",
                   *self.ARGS)
        self.check(r, "process_limit", "processes")
        self.listed(r)

    def test_a_program_that_ends_at_once_when_a_fork_is_refused(self):
        for _ in range(5):
            r = python("import os, time\nfor i in range(1000):\n    if os.fork() == 0: time.sleep(60)", *self.ARGS)
            self.check(r, "process_limit", "processes")
            self.listed(r)

    def test_an_error_of_a_program_that_may_start_no_other_is_its_own(self):
        for code in ("raise ValueError", "import time\ntime.sleep(0.1)\nraise ValueError"):
            r = python(code, "--processes", "1")
            self.check(r, "runtime_error")

    def test_a_fork_bomb_stays_small(self):
        r = bash(":(){ :|:& };:; wait; sleep 1", "--processes", "16", "--wall-time", "2", "--cpu-time", "2")
        self.assertIn(r["status"], ("process_limit", "wall_time_limit", "cpu_time_limit", "runtime_error", "ok"),
                      story(r))
        peak = r["usage"]["processes_peak"]      # it is at the limit for moments only, too short for a look every 10 ms
        self.assertTrue(peak is None or peak <= self.LIMIT, story(r))
        if enforced(r, "cpu_time") == "exact":
            self.listed(r)
        r = c("#include <unistd.h>\nint main(){for(;;)fork();}", "--cpu-time", "0.5", "--processes", "16")
        self.check(r, "cpu_time_limit", "cpu_time", "processes")
        self.listed(r)

    def test_fewer_processes_than_the_limit_are_no_matter(self):
        r = python("import os, time\nfor _ in range(10):\n    if os.fork() == 0: time.sleep(0.1); os._exit(0)\n"
                   "for _ in range(10): os.wait()\nprint('ok')", *self.ARGS)
        self.check(r, "ok")
        self.assertEqual((r["stdout"], r["fired"]), ("ok\n", []))

    def test_a_limit_of_one_is_enough_for_one(self):
        r = python("import os\ntry: os.fork(); print('two')\nexcept OSError as e: print('alone', e.errno)",
                   "--processes", "1")
        self.assertEqual((r["status"], r["stdout"]), ("ok", "alone 11\n"), story(r))


class CpuRate(Limit):
    def test_a_quarter_of_a_processor_takes_four_times_as_long(self):
        r = python("import time\nwhile time.process_time() < 0.3: pass", "--cpu-rate", "0.25")
        if enforced(r, "cpu_rate") == "none":
            self.skipTest("needs a cgroup: nothing else limits the rate")
        self.check(r, "ok")
        self.assertEqual(r["limits"]["cpu_rate"]["value"], 250)
        self.assertGreater(r["usage"]["wall_ms"], 0.8 * 4 * 300)


class OpenFiles(Limit):
    def test_the_next_one_fails(self):
        r = python("import errno\nf = []\ntry:\n    while True: f.append(open('/dev/null'))\n"
                   "except OSError as e: print(len(f), errno.errorcode[e.errno])", "--open-files", "32")
        self.check(r, "ok")
        count, error = r["stdout"].split()
        self.assertEqual(error, "EMFILE")
        self.assertEqual(int(count), 32 - 3)

    def test_the_least_that_is_allowed_starts_a_program(self):
        r = bash("ulimit -n", "--open-files", "8")
        self.check(r, "ok")
        self.assertEqual(r["stdout"], "8\n")

    def test_it_cannot_be_raised(self):
        r = python("import resource\ntry: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print('raised')\n"
                   "except ValueError as e: print('refused')", "--open-files", "32")
        self.assertEqual(r["stdout"], "refused\n")


class Usage(Limit):
    """What a result says was used, of the whole tree."""

    def test_cpu_time_of_children_is_in_it(self):
        r = python("import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n"
                   "        while time.process_time() < 0.1: sum(range(9999))\n        os._exit(0)\n"
                   "for _ in range(3): os.wait()")
        self.check(r, "ok")
        usage = r["usage"]
        self.assertGreaterEqual(usage["cpu_ms"], 290)
        self.assertLess(usage["cpu_ms"], 290 * support.SLACK)
        self.assertAlmostEqual(usage["cpu_user_ms"] + usage["cpu_sys_ms"], usage["cpu_ms"], delta=1)
        self.assertGreater(usage["cpu_user_ms"], usage["cpu_sys_ms"])

    def test_wall_time_is_that_of_the_program(self):
        r = bash("sleep 1")
        self.assertGreaterEqual(r["usage"]["wall_ms"], 1000)
        self.assertLess(r["usage"]["wall_ms"], 1000 + support.bound(100))
        self.assertLess(r["usage"]["cpu_ms"], r["usage"]["wall_ms"] / 2)

    def test_peaks_are_those_of_the_tree_at_one_time(self):
        r = python("import os, time\nready, begin = os.pipe(), os.pipe()\nfor _ in range(4):\n    if os.fork() == 0:\n"
                   "        x = b'x' * (10 << 20); os.close(begin[1]); os.write(ready[1], b'.'); os.read(begin[0], 1)\n"
                   "        os._exit(0)\nfor _ in range(4): os.read(ready[0], 1)\n"
                   "time.sleep(0.3)\nos.close(begin[1])\nfor _ in range(4): os.wait()")
        self.check(r, "ok")
        self.assertEqual(r["usage"]["processes_peak"], 5, story(r))
        self.assertGreaterEqual(r["usage"]["memory_peak_bytes"], 40 * MB)
        self.assertLess(r["usage"]["memory_peak_bytes"], 120 * MB)

    def test_compiling_is_not_in_it(self):
        r = cpp("#include <iostream>\n#include <regex>\nint main(){std::cout << 1;}")
        self.check(r, "ok")
        self.assertLess(r["usage"]["cpu_ms"], 800)  # of which the compiler takes far more
        self.assertLess(r["usage"]["memory_peak_bytes"], 64 * MB)


if __name__ == "__main__":
    unittest.main()
