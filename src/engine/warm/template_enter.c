/* SPDX-License-Identifier: MIT */
/* Starts a template's holder and zygote inside the template (enter.h). */
#include "engine/warm/template.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/children.h"
#include "engine/make/enter.h"
#include "engine/make/holder.h"
#include "engine/make/seccomp.h"
#include "engine/warm/zygote.h"

/* Moves a descriptor to a number of at least 20, as fh_enter requires. */
static int high(int fd)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 20);
	if (fd >= 0)
		close(fd);
	return copy;
}

static void enter(struct fh_template *t, struct fh_entry *e)
{
	struct fh_error err = FH_ERROR_INIT;
	int helper;
	e->anchor = t->child.pidfd;
	e->namespaces = CLONE_NEWUSER | fh_launch_namespaces(t->plan);
	e->no_new_privs = t->plan->layers & 1u << FH_LAYER_NO_NEW_PRIVS;
	if (!(t->plan->layers & 1u << FH_LAYER_SECCOMP))
		e->filter = NULL;
	if (!(t->plan->layers & 1u << FH_LAYER_LANDLOCK))
		e->confined = false;
	e->cgroup = t->cgroup.host ? &t->cgroup : NULL;
	int r = fh_enter(e, &helper, &t->entered, &err);
	if (r < 0) {
		fh_template_break(t, err.message);
		return;
	}
	/* the helper is outside the template's pid namespace, so nothing waits for its end */
	fh_reap_later(t->engine->loop, helper);
	t->entered_watch = (struct fh_watch){ .fd = -1, .on_event = fh_template_on_entered, .owner = t };
	(void)fh_watch_set(t->engine->loop, &t->entered_watch, t->entered, EPOLLIN);
	fh_timer_set(t->engine->loop, &t->deadline, fh_now_ns() + FH_TEMPLATE_MAKING_MS * FH_NS_PER_MS);
}

/* A socket pair; fh_enter gives the far end its number inside. */
int fh_template_pair(int *ret_ours, int *ret_theirs)
{
	int pair[2], size = 1 << 20;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	(void)fh_set_nonblock(pair[0], true);
	*ret_ours = pair[0];
	*ret_theirs = high(pair[1]);
	return *ret_theirs < 0 ? -EMFILE : 0;
}

/* What making a sandbox takes: namespaces, their loopback and mounts, the owners of mounted folders, id maps (mapping
 * uid 0 takes CAP_SETFCAP: user_namespaces(7)). */
static const uint64_t holder_capabilities =
    1ULL << CAP_SYS_ADMIN | 1ULL << CAP_NET_ADMIN | 1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER |
    1ULL << CAP_SETUID | 1ULL << CAP_SETGID | 1ULL << CAP_SETPCAP | 1ULL << CAP_SETFCAP | 1ULL << CAP_SYS_CHROOT;

void fh_template_enter_holder(struct fh_template *t)
{
	static char name[] = "fumehood-engine", option[] = "--holder", *argv[] = { name, option, NULL }, *env[] = { NULL };
	fh_auto_close int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	fh_auto_close int image = high(FH_TAKE_FD(self));
	fh_auto_close int nothing = high(open("/dev/null", O_RDWR | O_CLOEXEC));
	fh_auto_close int theirs = -1;
	t->state = FH_TEMPLATE_HOLDER;
	if (fh_template_pair(&t->holder_socket, &theirs) < 0 || image < 0 || nothing < 0) {
		fh_template_break(t, "there are no descriptors left for its holder");
		return;
	}
	const struct sock_fprog base = { fh_seccomp_base_size, (struct sock_filter *)(uintptr_t)fh_seccomp_base };
	const int fds[][2] = { { nothing, 0 }, { nothing, 1 }, { nothing, 2 }, { theirs, FH_HOLDER_SOCKET } };
	struct fh_entry e = {
		.uid = t->ids.ranges ? 0 : t->plan->uid,
		.gid = t->ids.ranges ? 0 : t->plan->gid,
		.capabilities = holder_capabilities,
		.filter = &base,
		.cwd = "/",
		.image = image,
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = FH_ARRAY_SIZE(fds),
	};
	enter(t, &e);
}

/* LD_BIND_NOW: symbols are resolved once when the zygote starts, not by each program, which would copy the pages. */
static const char library_variable[] = "LD_PRELOAD=/proc/self/fd/9", bind_variable[] = "LD_BIND_NOW=1";

/* The zygote's argv: the plan's up to the main file, with the zygote's options after the interpreter. */
static char **zygote_argv(const struct fh_plan *p)
{
	char **argv = fh_xcalloc(1, sizeof(char *));
	fh_plan_add_string(&argv, p->argv[0]);
	for (size_t i = 0; p->zygote.options[i]; i++)
		fh_plan_add_string(&argv, p->zygote.options[i]);
	for (size_t i = 1; i <= p->zygote.main_file; i++)
		fh_plan_add_string(&argv, p->argv[i]);
	return argv;
}

static char **zygote_env(const struct fh_plan *p)
{
	char **env = fh_xcalloc(1, sizeof(char *));
	fh_auto_buf struct fh_buf modules = FH_BUF_INIT(FH_ZYGOTE_PRELOAD_MAX);
	fh_auto_free char *file = fh_xasprintf("%s=%s", FH_ZYGOTE_ENV_FILE, p->argv[p->zygote.main_file]);
	fh_auto_free char *socket = fh_xasprintf("%s=%d", FH_ZYGOTE_ENV_SOCKET, FH_ZYGOTE_SOCKET);
	size_t count = 0;
	fh_plan_set_strings(&env, (const char *const *)p->env);
	for (size_t i = 0; p->zygote.preload[i]; i++)
		fh_buf_addf(&modules, "%s%s", i ? "," : "", p->zygote.preload[i]);
	fh_plan_add_string(&env, library_variable);
	fh_plan_add_string(&env, bind_variable);
	fh_plan_add_string(&env, socket);
	fh_plan_add_string(&env, file);
	if (modules.n) {
		fh_auto_free char *preload = fh_xasprintf("%s=%s", FH_ZYGOTE_ENV_PRELOAD, fh_buf_cstr(&modules));
		fh_plan_add_string(&env, preload);
	}
	while (p->zygote.env[count])
		count++;
	fh_auto_free char *own = fh_xasprintf("%s=%zu", FH_ZYGOTE_ENV_OWN, count);
	fh_plan_add_string(&env, own);
	for (size_t i = 0; i < count; i++)
		fh_plan_add_string(&env, p->zygote.env[i]);
	return env;
}

void fh_template_enter_zygote(struct fh_template *t)
{
	struct fh_error err = FH_ERROR_INIT;
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errout[2] = { -1, -1 }, library = fh_zygote_library(&err);
	fh_auto_close int theirs = -1;
	t->state = FH_TEMPLATE_ZYGOTE;
	bool ok = fh_template_pair(&t->zygote_socket, &theirs) == 0 && pipe2(in, O_CLOEXEC) == 0 &&
	          pipe2(out, O_CLOEXEC) == 0 && pipe2(errout, O_CLOEXEC) == 0;
	if (in[1] >= 0)
		close(in[1]); /* its stdin is at end of file from the start */
	t->zygote_output[0] = out[0];
	t->zygote_output[1] = errout[0];
	fh_auto_close int input = high(in[0]);
	fh_auto_close int output = high(out[1]);
	fh_auto_close int error_output = high(errout[1]);
	fh_auto_close int copy = library < 0 ? -1 : fcntl(library, F_DUPFD_CLOEXEC, 20);
	if (!ok || input < 0 || output < 0 || error_output < 0 || copy < 0) {
		fh_template_break(t, library < 0 ? err.message : "there are no descriptors left for its zygote");
		return;
	}
	const int fds[][2] = {
		{ input, 0 }, { output, 1 }, { error_output, 2 }, { theirs, FH_ZYGOTE_SOCKET }, { copy, FH_ZYGOTE_LIBRARY }
	};
	const struct sock_fprog filter = { fh_seccomp_zygote_size, (struct sock_filter *)(uintptr_t)fh_seccomp_zygote };
	char **argv = zygote_argv(t->plan), **env = zygote_env(t->plan);
	struct fh_entry e = {
		.uid = t->plan->uid,
		.gid = t->plan->gid,
		.capabilities = 1ULL << CAP_SYS_ADMIN | 1ULL << CAP_SYS_CHROOT,
		.confined = true,
		.filter = &filter,
		.cwd = t->plan->cwd,
		.image = -1,
		.argv = argv,
		.env = env,
		.fds = fds,
		.fd_count = FH_ARRAY_SIZE(fds),
	};
	enter(t, &e);
	fh_plan_set_strings(&argv, NULL);
	fh_plan_set_strings(&env, NULL);
	free(argv);
	free(env);
}
