/* SPDX-License-Identifier: MIT */
#include "sandbox/connection/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "sandbox/connection/client.h"

enum { START_MS = 10000, STOP_MS = 10000, GREET_MS = 5000 };

static int check_folder(const char *path, struct fh_error *err)
{
	struct stat st;
	if (lstat(path, &st) < 0)
		return fh_error_sys(err, errno, "cannot look at %s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077) {
		int r = fh_error_set(err, FH_E_UNAVAILABLE, "%s is not a folder that only you may open", path);
		fh_error_hint(err, "remove it, or set XDG_RUNTIME_DIR");
		return r;
	}
	return 0;
}

/* The n-th folder to try; NULL: no more. In /tmp another user may have made the first folder, so there is a second. */
static char *folder_at(int n)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");
	if (runtime && runtime[0] == '/')
		return n == 0 ? fh_path_join(runtime, "fumehood") : NULL;
	return n == 0                             ? fh_xasprintf("/tmp/fumehood-%u", (unsigned)geteuid())
	       : n == 1 && home && home[0] == '/' ? fh_path_join(home, ".fumehood-engine")
	                                          : NULL;
}

static int try_folder(const char *folder, bool make, char ret[FH_SERVICE_PATH_MAX], struct fh_error *err)
{
	if (strlen(folder) + sizeof("/engine.sock") > FH_SERVICE_PATH_MAX)
		return fh_error_set(err, FH_E_UNAVAILABLE, "%s is too long for a socket's address", folder);
	if (make && mkdir(folder, 0700) < 0 && errno != EEXIST) {
		int code = fh_error_sys(err, errno, "cannot make the folder %s, where clients find the engine", folder);
		fh_error_hint(err,
		              "set XDG_RUNTIME_DIR to a folder of yours that can be written, for this and for the clients");
		return code;
	}
	int r = check_folder(folder, err);
	if (r == 0)
		snprintf(ret, FH_SERVICE_PATH_MAX, "%s/engine.sock", folder);
	return r;
}

int fh_service_path(bool make, char ret[FH_SERVICE_PATH_MAX], struct fh_error *err)
{
	int r = -FH_E_UNAVAILABLE;
	for (int n = 0; r < 0; n++) {
		struct fh_error later = FH_ERROR_INIT;
		fh_auto_free char *folder = folder_at(n);
		if (!folder)
			break;
		/* the error of the first folder is the one to report */
		r = try_folder(folder, make, ret, n == 0 ? err : &later);
	}
	return r;
}

static int no_service(struct fh_error *err)
{
	(void)fh_error_set(err, FH_E_NOT_FOUND, "no engine of yours is kept warm here");
	fh_error_hint(err, "`fumehood engine start` starts one");
	return -FH_E_NOT_FOUND;
}

static void address_of(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", path);
}

int fh_service_connect(int *ret_fd, struct fh_error *err)
{
	char path[FH_SERVICE_PATH_MAX];
	struct sockaddr_un a;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (fh_service_path(false, path, NULL) < 0)
		return no_service(err);
	address_of(path, &a);
	fh_auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return no_service(err);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != geteuid())
		return fh_error_set(err, FH_E_UNAVAILABLE, "a process of another user listens at %s", path);
	*ret_fd = FH_TAKE_FD(fd);
	return 0;
}

/* Makes a socket bound to path. The engine listens on it, so that the kernel reports the engine's uid and pid to
 * clients. */
static int bind_socket(const char *path, int *ret_fd, struct fh_error *err)
{
	struct sockaddr_un a;
	address_of(path, &a);
	fh_auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot make a socket");
	(void)unlink(path); /* a connection was tried under the lock, so no process listens there */
	mode_t old = umask(0177);
	int r = bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ? fh_error_sys(err, errno, "cannot bind %s", path) : 0;
	umask(old);
	if (r == 0)
		*ret_fd = FH_TAKE_FD(fd);
	return r;
}

static int start_engine(int fd, uint64_t idle_ms, struct fh_error *err)
{
	fh_auto_free char *program = NULL;
	int r = fh_engine_program(NULL, &program, err);
	if (r < 0)
		return r;
	fh_auto_free char *absolute = realpath(program, NULL);
	fh_auto_free const char **env = fh_engine_environment();
	fh_auto_free char *idle = fh_xasprintf("--idle-ms=%llu", (unsigned long long)idle_ms);
	const char *const argv[] = { "fumehood-engine", "--service", idle, NULL };
	struct fh_child child;
	struct fh_child_options c = {
		.file = absolute ? absolute : program,
		.argv = argv,
		.env = env,
		.cwd = "/",
		.stdio = { fd, -1, -1 },
		.flags = FH_CHILD_SESSION,
	};
	r = fh_child_start(&child, &c, err);
	if (r == 0)
		fh_child_forget(&child);
	return r;
}

int fh_service_status(pid_t *ret_pid, struct fh_error *err)
{
	struct fh_reach reach = FH_REACH_INIT;
	struct fh_client *client;
	int r = fh_service_connect(&reach.in, err);
	if (r < 0)
		return r;
	reach.out = reach.in;
	r = fh_client_greet(&fh_placement_service, &reach, GREET_MS, false, &client, err);
	if (r < 0)
		return r;
	*ret_pid = fh_connection_peer_pid(client->connection);
	fh_client_close(client);
	return 0;
}

int fh_service_start(uint64_t idle_ms, pid_t *ret_pid, struct fh_error *err)
{
	char path[FH_SERVICE_PATH_MAX], lock_path[FH_SERVICE_PATH_MAX + 8];
	int r = fh_service_path(true, path, err);
	if (r < 0)
		return r;
	/* If two are started at once, one waits for the other and then finds its engine. */
	snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
	fh_auto_close int lock = open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return fh_error_sys(err, errno, "cannot lock %s", lock_path);
	if (fh_service_status(ret_pid, NULL) == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "an engine is kept warm already (process %d)", (int)*ret_pid);
	fh_auto_close int fd = -1;
	r = bind_socket(path, &fd, err);
	if (r == 0)
		r = start_engine(fd, idle_ms, err);
	int64_t deadline = fh_now_ns() + (int64_t)START_MS * FH_NS_PER_MS;
	while (r == 0 && fh_service_status(ret_pid, NULL) < 0) {
		if (fh_now_ns() > deadline)
			return fh_error_set(err, FH_E_TIMEOUT, "the engine did not answer within %d s", START_MS / 1000);
		fh_sleep_ns(5 * FH_NS_PER_MS);
	}
	return r;
}

int fh_service_stop(pid_t *ret_pid, struct fh_error *err)
{
	int r = fh_service_status(ret_pid, err);
	if (r < 0)
		return r;
	if (kill(*ret_pid, SIGTERM) < 0 && errno != ESRCH)
		return fh_error_sys(err, errno, "cannot end the engine (process %d)", (int)*ret_pid);
	int64_t deadline = fh_now_ns() + (int64_t)STOP_MS * FH_NS_PER_MS;
	pid_t other = *ret_pid;
	while (fh_service_status(&other, NULL) == 0 && other == *ret_pid) {
		if (fh_now_ns() > deadline)
			return fh_error_set(err, FH_E_TIMEOUT, "the engine (process %d) still runs after %d s", (int)*ret_pid,
			                    STOP_MS / 1000);
		fh_sleep_ns(5 * FH_NS_PER_MS);
	}
	return 0;
}
