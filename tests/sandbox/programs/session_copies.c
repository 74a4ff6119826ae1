/* SPDX-License-Identifier: MIT */
/* A session that stands still, and copies of it: pauses, branches, snapshots. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"
#include "fumehood/session.h"

static uint64_t cpu_us(const struct fh_sandbox_usage *u)
{
	return u->cpu_user_us + u->cpu_sys_us;
}

/* The usage of a paused session, once what ran on a processor that was held back is counted. */
static void usage_at_rest(struct fh_sandbox *s, struct fh_sandbox_usage *ret)
{
	struct fh_sandbox_usage before;
	double until = now() + bound(1);
	do {
		OK(fh_sandbox_usage(s, &before, &err));
		nap(0.1);
		OK(fh_sandbox_usage(s, ret, &err));
	} while (cpu_us(ret) > cpu_us(&before) && now() < until);
}

static void a_paused_session_stands_still_and_its_clocks_too(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_sandbox_usage before, after;
	enum fh_pause how = FH_PAUSE_NONE;
	char buf[256];
	o.wall_time_ms = 3000;
	struct fh_process
	    *p = spawn_with(
	        s, &o, "echo ready; (while :; do :; done) & setsid sh -c 'while :; do :; done' & read x; kill %1; exit 6"),
	    *q;
	read_until(p, FH_STDOUT, "ready\n", buf, sizeof(buf));
	OK(fh_sandbox_pause(s, &how, &err));
	CHECK(how == FH_PAUSE_FREEZER || how == FH_PAUSE_SIGNALS);
	OK(fh_sandbox_pause(s, &how, &err)); /* twice is once */
	usage_at_rest(s, &before);
	CHECK(before.paused);
	nap(3.5); /* longer than its wall time */
	OK(fh_sandbox_usage(s, &after, &err));
	CHECK(cpu_us(&after) - cpu_us(&before) < 350000); /* not paused, the two loops would have used some seconds */
	static const char *const argv[] = { "/bin/true", NULL };
	o.argv = argv;
	o.wall_time_ms = 0;
	CHECK(fh_process_spawn(s, &o, &q, &err) == -FH_E_UNAVAILABLE);
	OK(fh_sandbox_resume(s, &err));
	OK(fh_process_write(p, "go\n", 3, &err));
	struct fh_exit e = wait_for(p);
	CHECK(e.exit_code == 6 && e.usage.wall_us < 3000000);
	q = spawn(s, "exit 8");
	finish(q, 8);
	fh_process_free(p);
	OK(fh_sandbox_pause(s, NULL, &err)); /* one that is paused can be destroyed */
	OK(fh_sandbox_destroy(s, &err));
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* Whoever is forked while others are being stopped is stopped, too. */
static void a_session_is_paused_whole_while_it_forks(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox_usage before, after;
	char buf[64];
	for (int i = 0; i < 6; i++) {
		struct fh_sandbox *s = create(client, 0);
		struct fh_process *p =
		    spawn(s, "echo ready; i=0; while [ $i -lt 20 ]; do (while :; do :; done) & i=$((i+1)); done; wait");
		read_until(p, FH_STDOUT, "ready\n", buf, sizeof(buf));
		OK(fh_sandbox_pause(s, NULL, &err));
		usage_at_rest(s, &before);
		nap(0.5);
		OK(fh_sandbox_usage(s, &after, &err));
		CHECK(cpu_us(&after) - cpu_us(&before) < 100000); /* one loop alone would have used half a second */
		OK(fh_sandbox_destroy(s, &err));
		fh_process_free(p);
		fh_sandbox_free(s);
	}
	fh_client_close(client);
}

/* To /proc a process whose main thread has ended is a zombie, and runs all the same. It ends with 7 when it was stopped
 * for a second. */
static void a_process_without_its_main_thread_is_paused(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	char buf[64];
	o.wall_time_ms = (uint32_t)(bound(1) * 1000);
	struct fh_process *p =
	    spawn_with(s, &o,
	               "exec python3 -c \"\n"
	               "import ctypes, os, threading, time\n"
	               "def tick():\n"
	               "    while open('/proc/self/stat').read().split()[2] != 'Z': time.sleep(0.01)\n"
	               "    last, gap = time.monotonic(), 0\n"
	               "    os.write(1, b'ready\\n')\n"
	               "    while gap < 1:\n"
	               "        time.sleep(0.01)\n"
	               "        last, gap = time.monotonic(), time.monotonic() - last\n"
	               "    os._exit(7)\n"
	               "threading.Thread(target=tick).start()\n"
	               "ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)\"\n");
	read_until(p, FH_STDOUT, "ready\n", buf, sizeof(buf));
	OK(fh_sandbox_pause(s, NULL, &err));
	nap(1.5);
	OK(fh_sandbox_resume(s, &err));
	CHECK(wait_for(p).exit_code == 7);
	OK(fh_sandbox_destroy(s, &err));
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* A parent waits for its child of vfork and is stopped by nothing until this has started its program, which is being
 * kept from it here. */
static void a_process_that_waits_for_its_child_of_vfork_is_paused(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char buf[64];
	struct fh_process *p = spawn(s, "mkfifo fifo\n"
	                                "python3 -c \"\n"
	                                "import os\n"
	                                "opens = (os.POSIX_SPAWN_OPEN, 0, 'fifo', os.O_RDONLY, 0)\n"
	                                "child = os.posix_spawn('/bin/true', ['true'], {}, file_actions=[opens])\n"
	                                "print(os.waitpid(child, 0)[1])\" &\n"
	                                "until grep -q ') D ' /proc/$!/stat; do sleep 0.01; done\n"
	                                "echo ready; wait");
	read_until(p, FH_STDOUT, "ready\n", buf, sizeof(buf));
	OK(fh_sandbox_pause(s, NULL, &err));
	OK(fh_sandbox_resume(s, &err));
	struct fh_process *opens = spawn(s, ": >fifo");
	read_until(p, FH_STDOUT, "0\n", buf, sizeof(buf));
	CHECK(wait_for(p).exit_code == 0 && wait_for(opens).exit_code == 0);
	OK(fh_sandbox_destroy(s, &err));
	fh_process_free(p);
	fh_process_free(opens);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* While paused its wall clock must not run; this is the control: the same program, not paused, is ended by it. */
static void a_wall_clock_that_is_not_paused_ends_it(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	o.wall_time_ms = 500;
	struct fh_process *p = spawn_with(s, &o, "read x");
	CHECK(wait_for(p).status == FH_STATUS_WALL_TIME_LIMIT);
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void a_branch_has_the_files_and_goes_its_own_way(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0), *b;
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	char buf[4096];
	struct fh_process *p =
	    spawn(s, "mkdir -m 750 d; echo one > d/f; ln -s d/f l; ln d/f hard; chmod 711 d/f; touch -d @1000000 "
	             "d/f; head -c 300000 /dev/zero > zeros; echo t > /tmp/t; mkdir -m 500 locked; mkfifo q");
	finish(p, 0);
	o.name = "branch";
	OK(fh_sandbox_branch(s, &o, &b, &err));
	p = spawn(b, "stat -c '%n %a %s %Y' d d/f zeros locked | cut -d' ' -f1-3; cat l /tmp/t; readlink l; stat -c %h "
	             "hard; stat -c %Y "
	             "d/f; cmp zeros /dev/zero 2>&1 | grep -c EOF; test -p q && echo fifo; echo two > d/f; echo end");
	read_until(p, FH_STDOUT, "end\n", buf, sizeof(buf));
	CHECK(strcmp(buf + strcspn(buf, "\n") + 1,
	             "d/f 711 4\nzeros 644 300000\nlocked 500 40\none\nt\nd/f\n2\n1000000\n1\nfifo\nend\n") == 0 ||
	      strstr(buf, "one\nt\nd/f\n2\n1000000\n1\nfifo\nend\n"));
	CHECK(strstr(buf, "d/f 711 4\nzeros 644 300000\nlocked 500 "));
	finish(p, 0);
	p = spawn(s, "cat d/f");
	read_until(p, FH_STDOUT, NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "one\n") == 0); /* the parent sees nothing of the branch */
	finish(p, 0);
	fh_sandbox_free(s);
	fh_sandbox_free(b);
	fh_client_close(client);
}

static bool names(const char *const *list, const char *item)
{
	for (; *list; list++)
		if (strstr(*list, item))
			return true;
	return false;
}

static void what_a_copy_lacks_is_named(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0), *b, *restored;
	uint64_t left_out = 0;
	int file = memfd_create("snapshot", MFD_CLOEXEC);
	struct fh_process *p =
	    spawn(s, "echo x > open; echo x > closed; chmod 0 closed; mkdir shut; echo x > shut/f; chmod 0 shut; "
	             "mkdir many; i=0; while [ $i -lt 300 ]; do : > many/$i; i=$((i+1)); done; chmod 0 many/*");
	finish(p, 0);
	OK(fh_sandbox_snapshot(s, file, &left_out, &err));
	CHECK(left_out == 302 && lseek(file, 0, SEEK_SET) == 0);
	OK(fh_sandbox_restore(client, file, NULL, &restored, &err));
	OK(fh_sandbox_branch(s, NULL, &b, &err));
	const struct fh_sandbox *const copies[] = { b, restored };
	for (size_t i = 0; i < 2; i++) {
		const char *const *list = fh_sandbox_left_out(copies[i]);
		size_t n = 0;
		while (list[n])
			n++;
		CHECK(n == 257 && strcmp(list[256], "46 more") == 0);
		CHECK(names(list, "/closed: Permission denied") || names(list, "/many/"));
		CHECK(!names(list, "/open"));
	}
	CHECK(!*fh_sandbox_left_out(s));
	p = spawn(b, "test -f open && test ! -e closed && stat -c %a shut many | tr '\\n' ' ' | grep -qx '0 755 '");
	finish(p, 0);
	fh_sandbox_free(s);
	fh_sandbox_free(b);
	fh_sandbox_free(restored);
	close(file);
	fh_client_close(client);
}

/* The files of a paused session go to disk and into branches while its programs stand still. */
static void a_paused_session_is_copied(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0), *b, *restored;
	enum fh_pause how;
	char buf[4096], again[4096];
	int file = memfd_create("snapshot", MFD_CLOEXEC);
	struct fh_process *p =
	    spawn(s, "i=0; while :; do i=$((i+1)); echo $i > now; mv now count; [ $i -gt 1 ] || echo go; done");
	read_until(p, FH_STDOUT, "go\n", buf, sizeof(buf));
	OK(fh_sandbox_pause(s, &how, &err));
	int r = fh_sandbox_snapshot(s, file, NULL, &err);
	/* control groups v2 hold init, too; then it is refused */
	if (how != FH_PAUSE_FREEZER || r != -FH_E_UNAVAILABLE) {
		CHECK(r == 0 && lseek(file, 0, SEEK_SET) == 0);
		OK(fh_sandbox_branch(s, NULL, &b, &err));
		OK(fh_sandbox_restore(client, file, NULL, &restored, &err));
		struct fh_process *one = spawn(b, "cat count now 2>/dev/null; echo end"),
		                  *two = spawn(restored, "cat count now 2>/dev/null; echo end");
		read_until(one, FH_STDOUT, "end\n", buf, sizeof(buf));
		read_until(two, FH_STDOUT, "end\n", again, sizeof(again));
		CHECK(buf[0] != 'e' && strcmp(buf, again) == 0); /* nothing moved between the two */
		struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
		static const char *const argv[] = { "true", NULL };
		struct fh_process *none;
		o.argv = argv;
		CHECK(fh_process_spawn(s, &o, &none, &err) == -FH_E_UNAVAILABLE);
		fh_process_free(one);
		fh_process_free(two);
		fh_sandbox_free(b);
		fh_sandbox_free(restored);
	}
	OK(fh_sandbox_resume(s, &err));
	close(file);
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(client);
}

const struct driver_test copy_tests[] = {
	DRIVER_TEST(a_paused_session_stands_still_and_its_clocks_too),
	DRIVER_TEST(a_session_is_paused_whole_while_it_forks),
	DRIVER_TEST(a_process_without_its_main_thread_is_paused),
	DRIVER_TEST(a_process_that_waits_for_its_child_of_vfork_is_paused),
	DRIVER_TEST(a_wall_clock_that_is_not_paused_ends_it),
	DRIVER_TEST(a_branch_has_the_files_and_goes_its_own_way),
	DRIVER_TEST(what_a_copy_lacks_is_named),
	DRIVER_TEST(a_paused_session_is_copied),
	{ NULL, NULL },
};
