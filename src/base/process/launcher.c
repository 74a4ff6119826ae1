/* SPDX-License-Identifier: MIT */
#include "base/process/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"

enum { CHILDREN_MAX = 4096, FDS_MAX = 5 /* status, texts, stdio */, TEXT_MAX = 4 << 20 };

struct request {
	uint32_t flags, argc, envc;
	uint32_t stdio; /* bit i is set if a descriptor for the child's i (0 to 2) was sent */
	uint32_t text_size;
};

struct reply {
	int32_t pid; /* 0: the program could not be started, for the reason in `failure` */
	struct fh_child_failure failure;
};

static int launcher_socket = -1;
static pid_t launcher_pid, launcher_owner;
static atomic_bool launcher_used; /* a program was started through it */

bool fh_launcher_active(void)
{
	return launcher_socket >= 0;
}

bool fh_launcher_lost(void)
{
	struct pollfd p = { .fd = launcher_socket, .events = POLLRDHUP };
	return fh_launcher_active() && poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLRDHUP | POLLERR));
}

/* Sends bytes and descriptors as one packet. */
static ssize_t send_packet(int fd, const void *p, size_t n, const int *fds, size_t count)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	union {
		const void *in;
		void *out; /* the type that sendmsg wants; it does not modify the bytes */
	} data = { .in = p };
	memset(&control, 0, sizeof(control));
	struct iovec iov = { .iov_base = data.out, .iov_len = n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	if (count) {
		m.msg_control = control.space;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	ssize_t r;
	do
		r = sendmsg(fd, &m, MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	return r;
}

/* ------------------------------------------------------------------------------------------------- in the launcher */

struct launched {
	pid_t pid;
	int pidfd;  /* -1 once the child has ended */
	int status; /* socket on which the child's end is reported */
	bool ended; /* its exit was reported; it stays a zombie until the client closes the socket */
};

struct launcher {
	int control;
	struct launched *children;
	size_t count, capacity;
};

static size_t receive_packet(int fd, struct request *q, int fds[FDS_MAX], size_t *ret_count)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = q, .iov_len = sizeof(*q) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)
	};
	ssize_t n;
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*ret_count = 0;
	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*ret_count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *ret_count * sizeof(int));
	}
	return n > 0 ? (size_t)n : 0;
}

/* Takes the next NUL-terminated text; NULL if there is none. */
static char *next_text(char **at, char *end)
{
	char *s = *at;
	char *nul = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;
	*at = nul ? nul + 1 : end;
	return nul ? s : NULL;
}

static bool make_child(const struct request *q, char *text, const int fds[FDS_MAX], size_t count, struct reply *ret,
                       int *ret_pidfd)
{
	char *at = text, *end = text + q->text_size;
	size_t strings = (size_t)q->argc + q->envc;
	if (strings > q->text_size)
		return false;
	fh_auto_free const char **list = fh_xcalloc(strings + 2, sizeof(char *));
	struct fh_child_options o = { .flags = q->flags, .argv = list, .env = list + q->argc + 1, .stdio = { -1, -1, -1 } };
	o.file = next_text(&at, end);
	o.cwd = next_text(&at, end);
	if (!o.cwd)
		return false;
	for (size_t i = 0; i < strings; i++) {
		const char *s = next_text(&at, end);
		if (!s)
			return false;
		list[i < q->argc ? i : i + 1] = s;
	}
	size_t used = 2;
	for (int i = 0; i < 3; i++)
		if ((q->stdio & (1u << i)) && used < count)
			o.stdio[i] = fds[used++];
	pid_t pid;
	if (fh_child_make(&o, &pid, ret_pidfd, &ret->failure))
		ret->pid = pid;
	return true;
}

/* Serves one request. False: the caller is gone, or sent something that it never sends. */
static bool serve(struct launcher *l)
{
	struct request q;
	int fds[FDS_MAX], pidfd = -1;
	size_t count;
	struct reply reply = { 0 };
	if (receive_packet(l->control, &q, fds, &count) != sizeof(q) || count < 2 || q.text_size > TEXT_MAX ||
	    q.text_size == 0)
		return false;
	char *text = mmap(NULL, q.text_size, PROT_READ, MAP_PRIVATE, fds[1], 0);
	bool known = text != MAP_FAILED;
	if (known && l->count >= CHILDREN_MAX)
		reply.failure = (struct fh_child_failure){ .stage = INT32_MAX, .sys = EAGAIN };
	else
		known = known && make_child(&q, text, fds, count, &reply, &pidfd);
	if (text != MAP_FAILED)
		munmap(text, q.text_size);
	for (size_t i = 1; i < count; i++)
		close(fds[i]);
	if (known)
		(void)send_packet(fds[0], &reply, sizeof(reply), NULL, 0);
	if (known && reply.pid)
		FH_PUSH(l->children, l->count, l->capacity) =
		    (struct launched){ .pid = reply.pid, .pidfd = pidfd, .status = fds[0] };
	else
		close(fds[0]);
	return known;
}

/* Reports the status of a child that has ended, without reaping it. */
static void report_ended(struct launched *c)
{
	siginfo_t si = { 0 };
	if (waitid(P_PID, (id_t)c->pid, &si, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || !si.si_pid)
		return;
	int32_t status = si.si_code == CLD_EXITED ? (si.si_status & 0xff) << 8
	                                          : (si.si_status & 0x7f) | (si.si_code == CLD_DUMPED ? 0x80 : 0);
	(void)send_packet(c->status, &status, sizeof(status), NULL, 0);
	close(FH_TAKE_FD(c->pidfd));
	c->ended = true;
}

/* Handles each child whose descriptor is ready. Reaps children whose status socket the caller has closed. */
static void tend(struct launcher *l, const struct pollfd *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < l->count; i++) {
		struct launched *c = &l->children[i];
		if (!c->ended && p[i].revents)
			report_ended(c);
		else if (c->ended && (p[i].revents & (POLLHUP | POLLERR))) {
			(void)waitpid(c->pid, NULL, __WALL);
			close(c->status);
			continue;
		}
		l->children[kept++] = *c;
	}
	l->count = kept;
}

static FH_NORETURN void launcher_main(int control)
{
	struct launcher l = { .control = control };
	/* Drops the caller's other descriptors: a pipe held open here would never reach its end of file. */
	if (control != 3 && dup3(control, 3, O_CLOEXEC) < 0)
		_exit(1);
	l.control = 3;
	for (int i = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC); i < 3 && null >= 0; i++)
		(void)dup2(null, i);
	(void)syscall(SYS_close_range, 4U, ~0U, 0U);
	(void)prctl(PR_SET_NAME, "fumehood-launch");
	fh_auto_free struct pollfd *p = fh_xcalloc(CHILDREN_MAX + 1, sizeof(*p));
	for (;;) {
		p[0] = (struct pollfd){ .fd = l.control, .events = POLLIN };
		for (size_t i = 0; i < l.count; i++) {
			struct launched *c = &l.children[i];
			p[1 + i] = (struct pollfd){ .fd = c->ended ? c->status : c->pidfd, .events = c->ended ? 0 : POLLIN };
		}
		if (poll(p, 1 + l.count, -1) < 0)
			continue;
		tend(&l, p + 1);
		if (p[0].revents && !serve(&l))
			_exit(0);
	}
}

/* --------------------------------------------------------------------------------------------------- in the caller */

static int drop_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	if (syscall(SYS_capset, &h, none) < 0)
		return -1;
	/* the kernel limits the ambient set to the permitted one, so it is empty already */
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return 0;
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 } };
	return syscall(SYS_capget, &h, d) == 0 && (d[0].permitted || d[1].permitted);
}

/* Reaps the launcher at exit. Otherwise each command would leave a zombie in a container whose pid 1 does not reap
 * orphans. */
static void reap_launcher(void)
{
	if (launcher_socket < 0 || launcher_owner != getpid())
		return;
	close(FH_TAKE_FD(launcher_socket));
	while (waitpid(launcher_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int fh_launcher_start(struct fh_error *err)
{
	int pair[2];
	if (fh_launcher_active() || getuid() != 0 || !has_capabilities())
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fh_error_sys(err, errno, "cannot make the launcher's socket");
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		launcher_main(pair[1]);
	}
	int sys = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(pair[1]);
	if (pid < 0 || drop_capabilities() < 0) {
		sys = pid < 0 ? sys : errno;
		close(pair[0]);
		return fh_error_sys(err, sys, "cannot start the launcher");
	}
	launcher_socket = pair[0];
	launcher_pid = pid;
	launcher_owner = getpid();
	(void)atexit(reap_launcher);
	return 0;
}

void fh_launcher_end_unused(void)
{
	if (fh_launcher_active() && launcher_owner == getpid() && !launcher_used)
		(void)shutdown(launcher_socket, SHUT_RDWR);
}

int fh_launcher_forgo(struct fh_error *err)
{
	if (getuid() != 0 || !has_capabilities())
		return 0;
	return drop_capabilities() < 0 ? fh_error_sys(err, errno, "cannot drop root's capabilities") : 0;
}

static void add_text(struct fh_buf *b, const char *s)
{
	(void)fh_buf_add(b, s, strlen(s) + 1);
}

static int texts_of(const struct fh_child_options *o, struct request *q, struct fh_error *err)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(TEXT_MAX);
	add_text(&b, o->file);
	/* Relative paths start in our working directory, which may differ from the launcher's. */
	fh_auto_free char *here = get_current_dir_name();
	fh_auto_free char *cwd = fh_path_join(here ? here : "", o->cwd ? o->cwd : ".");
	add_text(&b, cwd);
	for (const char *const *s = o->argv; *s; s++, q->argc++)
		add_text(&b, *s);
	for (size_t i = 0; o->env ? o->env[i] != NULL : environ[i] != NULL; i++, q->envc++)
		add_text(&b, o->env ? o->env[i] : environ[i]);
	if (b.overflowed)
		return fh_error_sys(err, E2BIG, "cannot start %s", o->file);
	q->text_size = (uint32_t)b.n;
	fh_auto_close int fd = memfd_create("fumehood-launch", MFD_CLOEXEC);
	if (fd < 0 || fh_write_all(fd, b.p, b.n) < 0)
		return fh_error_sys(err, errno, "cannot start %s", o->file);
	return FH_TAKE_FD(fd);
}

static int launcher_gone(const struct fh_child_options *o, struct fh_error *err)
{
	return fh_error_set(err, FH_E_SYSTEM, "cannot start %s: the launcher has ended", o->file);
}

int fh_launcher_make(const struct fh_child_options *o, pid_t *ret_pid, int *ret_watch,
                     struct fh_child_failure *ret_failure, struct fh_error *err)
{
	struct request q = { .flags = o->flags };
	fh_auto_close int texts = texts_of(o, &q, err);
	int pair[2], fds[FDS_MAX];
	size_t count = 2;
	if (texts < 0)
		return texts;
	for (int i = 0; i < 3; i++) {
		/* a closed stdin is no error: the child gets /dev/null */
		if (o->stdio[i] < 0 || fcntl(o->stdio[i], F_GETFD) < 0)
			continue;
		q.stdio |= 1u << i;
		fds[count++] = o->stdio[i];
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fh_error_sys(err, errno, "cannot start %s", o->file);
	fh_auto_close int ours = pair[0];
	fh_auto_close int theirs = pair[1];
	fds[0] = theirs;
	fds[1] = texts;
	launcher_used = true;
	if (send_packet(launcher_socket, &q, sizeof(q), fds, count) != sizeof(q)) {
		if (errno == EPIPE || errno == ECONNRESET)
			return launcher_gone(o, err);
		/* ETOOMANYREFS: the kernel limits the number of descriptors in transit for each user. */
		return fh_error_sys(err, errno, "cannot tell the launcher to start %s", o->file);
	}
	close(FH_TAKE_FD(theirs)); /* while we hold this end, recv would not return when the launcher dies */
	struct reply reply;
	ssize_t n;
	do
		n = recv(ours, &reply, sizeof(reply), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(reply))
		return launcher_gone(o, err);
	*ret_failure = reply.failure;
	*ret_pid = reply.pid;
	*ret_watch = reply.pid ? FH_TAKE_FD(ours) : -1;
	return 0;
}
