/* SPDX-License-Identifier: MIT */
/* Network namespaces that are given out again: only such as nobody can tell from new ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/host/netns.h"

static struct fh_netns_pool pool;
static int kept = -1; /* a socket that a case leaves open */

static bool put(const char *path, const char *text)
{
	fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Rights over namespaces of our own. */
static int set_up(void **state)
{
	char map[40];
	unsigned uid = getuid();
	(void)state;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return 0; /* each test finds out, and is skipped */
	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	return put("/proc/self/uid_map", map) ? 0 : -1;
}

static void begin(void)
{
	kept = -1;
	fh_netns_pool_init(&pool);
	if (unshare(CLONE_NEWNET) < 0) {
		print_message("needs the kernel to give this user namespaces of their own\n");
		skip();
	}
}

static ino_t where(void)
{
	struct stat st;
	assert_int_equal(stat("/proc/self/ns/net", &st), 0);
	return st.st_ino;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
		                         .sin_port = htons(port),
		                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* ------------------------------------------------------------------------------------------- what leaves no trace */

static void nothing(void)
{
}

static void a_pair(void)
{
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(write(pair[0], "x", 1), 1);
	close(pair[0]);
	close(pair[1]);
}

static int abstract(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0left" };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s, (void *)&a, sizeof(a)), 0);
	return s;
}

static void an_abstract_name_that_is_gone(void)
{
	close(abstract());
}

/* ------------------------------------------------------------------------------------------------ what leaves one */

static void a_datagram(void)
{
	struct sockaddr_in to = loopback(9);
	fh_auto_close int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(sendto(s, "x", 1, 0, (void *)&to, sizeof(to)), 1);
}

static void a_refused_connection(void)
{
	struct sockaddr_in to = loopback(9);
	fh_auto_close int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(s, (void *)&to, sizeof(to)), -1);
}

/* No packet, but the kernel caches the route, and both files count that. */
static void a_route_that_was_looked_up(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = 9, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	fh_auto_close int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0 || connect(s, (void *)&to, sizeof(to)) < 0) {
		print_message("needs the kernel to have IPv6\n");
		skip();
	}
}

static void a_way_that_is_not_there(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = 9, .sin_addr.s_addr = htonl(0x08080808) };
	fh_auto_close int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(sendto(s, "x", 1, 0, (void *)&to, sizeof(to)), -1);
}

static void an_abstract_name(void)
{
	kept = abstract();
}

static void a_listener(void)
{
	struct sockaddr_in at = loopback(4321);
	kept = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(kept, (void *)&at, sizeof(at)), 0);
	assert_int_equal(listen(kept, 1), 0);
}

/* A label that lingers when its socket is gone (linux/in6.h, struct in6_flowlabel_req). */
static void a_flow_label(void)
{
	struct {
		struct in6_addr to;
		uint32_t label;
		uint8_t action, share;
		uint16_t flags, expires, linger;
		uint32_t zero;
	} ask = { .to = IN6ADDR_LOOPBACK_INIT,
		      .label = htonl(0x12345),
		      .action = 0,
		      .share = 255,
		      .flags = 1,
		      .expires = 6,
		      .linger = 6 };
	fh_auto_close int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0 || setsockopt(s, IPPROTO_IPV6, 32 /* IPV6_FLOWLABEL_MGR */, &ask, sizeof(ask)) < 0) {
		print_message("needs the kernel to have IPv6 with flow labels\n");
		skip();
	}
}

/* --------------------------------------------------------------------------------------------------------- tests */

/* Whether the next one is given the namespace in which this was done. */
static bool is_given_again_after(void (*leave)(void))
{
	begin();
	int place = fh_netns_enter(&pool);
	assert_true(place >= 0);
	ino_t first = where();
	leave();
	fh_netns_give_back(&pool, (size_t)place);
	assert_true(fh_netns_enter(&pool) >= 0);
	bool again = where() == first;
	if (kept >= 0)
		close(kept);
	return again;
}

#define GIVEN_AGAIN(what)                                                                                              \
	static void test_given_again_after_##what(void **state)                                                            \
	{                                                                                                                  \
		(void)state;                                                                                                   \
		assert_true(is_given_again_after(what));                                                                       \
	}
#define NEVER_AGAIN(what)                                                                                              \
	static void test_never_again_after_##what(void **state)                                                            \
	{                                                                                                                  \
		(void)state;                                                                                                   \
		assert_false(is_given_again_after(what));                                                                      \
	}

GIVEN_AGAIN(nothing)
GIVEN_AGAIN(a_pair)
GIVEN_AGAIN(an_abstract_name_that_is_gone)
NEVER_AGAIN(a_datagram)
NEVER_AGAIN(a_refused_connection)
NEVER_AGAIN(a_way_that_is_not_there)
NEVER_AGAIN(a_route_that_was_looked_up)
NEVER_AGAIN(an_abstract_name)
NEVER_AGAIN(a_listener)
NEVER_AGAIN(a_flow_label)

static void test_two_at_once_never_share_one(void **state)
{
	(void)state;
	begin();
	ino_t seen[FH_NETNS_MAX];
	for (int i = 0; i < FH_NETNS_MAX; i++) {
		assert_true(fh_netns_enter(&pool) >= 0);
		seen[i] = where();
		for (int k = 0; k < i; k++)
			assert_int_not_equal(seen[i], seen[k]);
	}
	assert_int_equal(fh_netns_enter(&pool), -1); /* and no more than there are places */
	fh_netns_give_back(&pool, 3);
	assert_int_equal(fh_netns_enter(&pool), 3);
	assert_int_equal(where(), seen[3]);
}

/* With the comparison off, the next one sees what was left: there is something that it keeps apart. */
static void test_without_the_comparison_traces_are_seen(void **state)
{
	char text[4096] = "";
	(void)state;
	begin();
	int place = fh_netns_enter(&pool);
	a_datagram();
	pool.place[place].given = false;
	assert_int_equal(fh_netns_enter(&pool), place);
	fh_auto_close int fd = open("/proc/self/net/snmp", O_RDONLY | O_CLOEXEC);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	const char *udp = strstr(text, "\nUdp: "); /* its second line begins with InDatagrams, NoPorts */
	udp = udp ? strstr(udp + 1, "\nUdp: ") : NULL;
	assert_non_null(udp);
	assert_int_not_equal(strncmp(udp, "\nUdp: 0 0 0 0", 13), 0);
}

static void test_the_loopback_works(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 2; i++) { /* a new one, and one that was given back */
		int place = fh_netns_enter(&pool);
		assert_true(place >= 0);
		if (i == 1)
			a_datagram();
		fh_netns_give_back(&pool, (size_t)place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_again_after_nothing),
		cmocka_unit_test(test_given_again_after_a_pair),
		cmocka_unit_test(test_given_again_after_an_abstract_name_that_is_gone),
		cmocka_unit_test(test_never_again_after_a_datagram),
		cmocka_unit_test(test_never_again_after_a_refused_connection),
		cmocka_unit_test(test_never_again_after_a_way_that_is_not_there),
		cmocka_unit_test(test_never_again_after_a_route_that_was_looked_up),
		cmocka_unit_test(test_never_again_after_an_abstract_name),
		cmocka_unit_test(test_never_again_after_a_listener),
		cmocka_unit_test(test_never_again_after_a_flow_label),
		cmocka_unit_test(test_two_at_once_never_share_one),
		cmocka_unit_test(test_without_the_comparison_traces_are_seen),
		cmocka_unit_test(test_the_loopback_works),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
