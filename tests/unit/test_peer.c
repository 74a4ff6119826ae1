/* SPDX-License-Identifier: MIT */
/* Who is served at an engine's socket: its own user and root, and no program of a sandbox, whoever it is outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "engine/serve/peer.h"

static const uid_t stranger = 54321;

/* What a peer does between its start and its connection; false: it cannot, and the case is skipped. */
static bool nothing(void)
{
	return true;
}

static bool enter_own_user_namespace(void)
{
	return unshare(CLONE_NEWUSER) == 0;
}

static bool become_a_stranger(void)
{
	return geteuid() == 0 && setresuid(stranger, stranger, stranger) == 0;
}

/* A process that connected, and the engine's end of the connection. The process lives until end_peer(). */
struct peer {
	pid_t pid;
	int listener, socket;
	struct ucred credentials;
};

static void end_peer(struct peer *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
}

/* Fails where the peer could not do `before`. */
static bool connect_after(bool (*before)(void), struct peer *ret)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	socklen_t n = sizeof(a.sun_family); /* the kernel chooses an abstract name */
	int told[2];
	char good = 0;
	ret->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(ret->listener, (struct sockaddr *)&a, n), 0);
	n = sizeof(a);
	assert_int_equal(getsockname(ret->listener, (struct sockaddr *)&a, &n), 0);
	assert_int_equal(listen(ret->listener, 1), 0);
	assert_int_equal(pipe(told), 0);
	ret->pid = fork();
	assert_true(ret->pid >= 0);
	if (ret->pid == 0) {
		int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		good = before() && connect(s, (struct sockaddr *)&a, n) == 0;
		(void)!write(told[1], &good, 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], &good, 1), 1);
	close(told[0]);
	close(told[1]);
	if (!good) {
		end_peer(ret);
		close(ret->listener);
		return false;
	}
	ret->socket = accept4(ret->listener, NULL, NULL, SOCK_CLOEXEC);
	n = sizeof(ret->credentials);
	assert_int_equal(getsockopt(ret->socket, SOL_SOCKET, SO_PEERCRED, &ret->credentials, &n), 0);
	return true;
}

static void disconnect(struct peer *p)
{
	close(p->socket);
	close(p->listener);
}

static bool is_served(bool (*before)(void))
{
	struct peer p;
	if (!connect_after(before, &p)) {
		print_message("needs root, or a kernel that gives this user namespaces of their own\n");
		skip();
	}
	bool served = fh_peer_may_ask(p.socket, &p.credentials);
	end_peer(&p);
	disconnect(&p);
	return served;
}

static void its_own_user_is_served(void **state)
{
	(void)state;
	assert_true(is_served(nothing));
}

static void another_user_is_not(void **state)
{
	(void)state;
	assert_false(is_served(become_a_stranger));
}

/* A program in a sandbox has its user's uid outside, and a user namespace of its sandbox's own. */
static void its_own_user_in_another_user_namespace_is_not(void **state)
{
	(void)state;
	assert_false(is_served(enter_own_user_namespace));
}

/* The number of a process that ended may be another's by now. */
static void a_process_that_ended_is_not(void **state)
{
	struct peer p;
	(void)state;
	assert_true(connect_after(nothing, &p));
	kill(p.pid, SIGKILL);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)p.pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(fh_peer_may_ask(p.socket, &p.credentials)); /* it ended, and has its number still */
	end_peer(&p);
	assert_false(fh_peer_may_ask(p.socket, &p.credentials));
	disconnect(&p);
}

/* One that is in no process namespace of the engine's, as a client outside of the engine's container. */
static void a_process_without_a_number_here_is_served_by_its_uid(void **state)
{
	struct ucred ours = { .uid = geteuid() }, other = { .uid = stranger };
	(void)state;
	assert_true(fh_peer_may_ask(-1, &ours));
	assert_false(fh_peer_may_ask(-1, &other));
}

/* A user's engine cannot look at root's processes, nor does it have to. */
static void root_is_served_by_a_users_engine(void **state)
{
	struct ucred root = { .pid = 1, .uid = 0 };
	(void)state;
	if (geteuid() != 0) {
		assert_true(fh_peer_may_ask(-1, &root));
		return;
	}
	pid_t engine = fork();
	if (engine == 0)
		_exit(!become_a_stranger() ? 2 : fh_peer_may_ask(-1, &root) ? 0 : 1);
	int status = -1;
	assert_int_equal(waitpid(engine, &status, 0), engine);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2) {
		print_message("needs a user namespace that holds another user\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_own_user_is_served),
		cmocka_unit_test(another_user_is_not),
		cmocka_unit_test(its_own_user_in_another_user_namespace_is_not),
		cmocka_unit_test(a_process_that_ended_is_not),
		cmocka_unit_test(a_process_without_a_number_here_is_served_by_its_uid),
		cmocka_unit_test(root_is_served_by_a_users_engine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
