/* SPDX-License-Identifier: MIT */
#include "cli/with_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "cli/serve/serve.h"
#include "cli/switch.h"

enum { ANSWER_MS = 500, ANSWER_MAX = 2048 };

/* The port of "http://127.0.0.1:PORT" or "http://localhost:PORT"; 0 for any other URL. */
static uint16_t loopback_port(const char *url)
{
	unsigned port = 0;
	char end;
	if (!url || (sscanf(url, "http://127.0.0.1:%5u%c", &port, &end) != 1 &&
	             sscanf(url, "http://localhost:%5u%c", &port, &end) != 1))
		return 0;
	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* Whether the server at a port is `fumehood serve`. */
static bool is_ours(uint16_t port)
{
	static const char question[] = "GET /health HTTP/1.0\r\n\r\n";
	struct sockaddr_in a = { .sin_family = AF_INET,
		                     .sin_port = htons(port),
		                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char answer[ANSWER_MAX];
	size_t n = 0;
	fh_auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    fh_write_all(fd, question, sizeof(question) - 1) < 0)
		return false;
	while (n < sizeof(answer) - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got = poll(&p, 1, ANSWER_MS) == 1 ? read(fd, answer + n, sizeof(answer) - 1 - n) : 0;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	answer[n] = '\0';
	return strncmp(answer, "HTTP/1.", 7) == 0 && strstr(answer, "\r\nServer: fumehood\r\n");
}

static int listen_anywhere(uint16_t *ret_port, struct fh_error *err)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	fh_auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 || listen(fd, 1024) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) < 0)
		return fh_error_sys(err, errno, "cannot listen on the loopback interface for the command's server");
	*ret_port = ntohs(a.sin_port);
	return FH_TAKE_FD(fd);
}

/* Makes a file that only this process and its children can read. */
static int key_file(const char *key, struct fh_error *err)
{
	fh_auto_close int fd = memfd_create("fumehood-keys", MFD_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0600) < 0 || fh_write_all(fd, key, strlen(key)) < 0 || fh_write_all(fd, "\n", 1) < 0)
		return fh_error_sys(err, errno, "cannot keep the key of the command's server");
	return FH_TAKE_FD(fd);
}

/* Executes the server in the grandchild; it gets descriptors 3 and 4, and of ours only stderr. */
static void become_server(const char *program, pid_t owner, int socket_fd, int key_fd)
{
	char until[24];
	snprintf(until, sizeof(until), "%d", owner);
	int null = open("/dev/null", O_RDWR);
	int low_socket = fcntl(socket_fd, F_DUPFD, 10), low_key = fcntl(key_fd, F_DUPFD, 10);
	if (null < 0 || low_socket < 0 || low_key < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(low_socket, 3) < 0 || dup2(low_key, 4) < 0 || close_range(5, ~0U, 0) < 0)
		_exit(127);
	(void)setsid();
	execl(program, "fumehood-serve", "--quiet", "--listen-descriptor", "3", "--api-key-file", "/proc/self/fd/4",
	      "--until", until, (char *)NULL);
	_exit(127);
}

static int start(uint16_t *ret_port, const char *key, struct fh_error *err)
{
	fh_auto_free char *self = fh_path_self_dir();
	fh_auto_free char *beside = self ? fh_xasprintf("%s/fumehood-serve", self) : NULL;
	fh_auto_free char *installed = self ? fh_xasprintf("%s/../libexec/fumehood/fumehood-serve", self) : NULL;
	const char *program = beside && access(beside, X_OK) == 0 ? beside : installed;
	fh_auto_close int socket_fd = listen_anywhere(ret_port, err);
	fh_auto_close int key_fd = socket_fd < 0 ? -1 : key_file(key, err);
	if (key_fd < 0)
		return -FH_E_SYSTEM;
	pid_t owner = getpid(), child = program ? fork() : -1;
	if (child < 0)
		return fh_error_set(err, FH_E_SYSTEM, "cannot start the command's server");
	if (child == 0) { /* The server is a grandchild, so that the command does not have a child that it did not start. */
		if (fork() == 0)
			become_server(program, owner, socket_fd, key_fd);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	return 0;
}

static void random_key(char *to, size_t n)
{
	uint8_t bytes[20];
	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		;
	size_t at = (size_t)snprintf(to, n, "e2b_");
	for (size_t i = 0; i < sizeof(bytes); i++)
		at += (size_t)snprintf(to + at, n - at, "%02x", bytes[i]);
}

int fh_with_server_find(struct fh_with_server *ret, struct fh_error *err)
{
	const char *url = getenv("E2B_API_URL"), *key = getenv("E2B_API_KEY");
	uint16_t port = loopback_port(url);
	if (!port)
		port = loopback_port(FH_SERVE_URL);
	snprintf(ret->key, sizeof(ret->key), "%s", FH_SWITCH_E2B_KEY);
	if (!is_ours(port)) {
		if (!key || !*key)
			random_key(ret->key, sizeof(ret->key));
		int r = start(&port, key && *key ? key : ret->key, err);
		if (r < 0)
			return r;
	}
	snprintf(ret->url, sizeof(ret->url), "http://127.0.0.1:%u", port);
	return 0;
}
