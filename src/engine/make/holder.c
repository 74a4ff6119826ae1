/* SPDX-License-Identifier: MIT */
#include "engine/make/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/host/packet.h"
#include "proto/frame.h"

struct holder {
	struct fh_holder_template template;
	struct fh_plan *plan;
	int init_image;
	struct fh_netns_pool *networks;
};

/* Writes the id maps of a child that has unshared its user namespace and waits. Only the holder can do this, because
 * the kernel asks for CAP_SETUID and CAP_SETGID in the parent namespace. */
static bool write_maps(pid_t pid, uint32_t first)
{
	static const char *const files[] = { "uid_map", "gid_map" };
	char path[64], map[64];
	int n = snprintf(map, sizeof(map), "0 %u 65536\n", first);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, files[i]);
		fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, (size_t)n) != n)
			return false;
	}
	return true;
}

static void answer(uint32_t token, int error, int pidfd, int network)
{
	struct fh_holder_made m = {
		.op = FH_HOLDER_MADE, .token = token, .error = error, .network = (uint32_t)(network + 1)
	};
	if (fh_packet_send(FH_HOLDER_SOCKET, &m, sizeof(m), &pidfd, pidfd >= 0) < 0)
		_exit(0); /* the engine is dead */
}

/* Waits until the child asks for its ids, or dies. */
static void give_ids(pid_t pid, uint32_t first, int ask, int go)
{
	struct fh_setup_report asked;
	ssize_t n;
	while ((n = read(ask, &asked, sizeof(asked))) < 0 && errno == EINTR)
		;
	if (n == (ssize_t)sizeof(asked) && write_maps(pid, first))
		(void)!write(go, "", 1);
}

/* A network namespace is reused only if the sandbox has its own pid namespace: the end of that tells the engine that no
 * process is left in the network namespace. */
static int enter_network(const struct holder *h, const struct fh_holder_make *m)
{
	uint32_t layers = 1u << FH_LAYER_NETWORK | 1u << FH_LAYER_PID;
	for (uint32_t i = 0; i < m->over_count && i < FH_NETNS_MAX; i++)
		fh_netns_give_back(h->networks, m->over[i]);
	return (h->plan->layers & layers) == layers ? fh_netns_enter(h->networks) : -1;
}

static void make(const struct holder *h, const struct fh_holder_make *m, const int *fds, int fd_count)
{
	int ask[2] = { -1, -1 }, go[2] = { -1, -1 }, pidfd = -1;
	bool ranges = h->template.ranges;
	if (fd_count != 1 + (int)m->entries + (int)m->into || m->entries > FH_CG_COUNT_) {
		answer(m->token, EBADMSG, -1, -1);
		return;
	}
	if (ranges && (pipe2(ask, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)) {
		answer(m->token, errno, -1, -1);
		return;
	}
	int network = enter_network(h, m);
	struct fh_cgroup groups = FH_CGROUP_INIT;
	for (uint32_t i = 0; i < m->entries; i++)
		groups.procs[i] = fds[1 + i];
	struct fh_launch l = {
		.part = FH_PART_OWN,
		.plan = h->plan,
		.cgroup = &groups,
		.ids = { .ranges = ranges, .base = m->first_id, .uid = h->template.uid, .gid = h->template.gid },
		.init_image = h->init_image,
		.init_socket = fds[0],
		.report = ask[1],
		.go = go[0],
		.has_network = network >= 0,
	};
	struct clone_args args = { .flags = CLONE_PARENT | CLONE_PIDFD | fh_launch_namespaces(h->plan),
		                       .pidfd = (uint64_t)(uintptr_t)&pidfd };
	if (l.has_network)
		args.flags &= ~(uint64_t)CLONE_NEWNET;
	if (m->into) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)fds[fd_count - 1];
	}
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		if (ranges) {
			close(ask[0]);
			close(go[1]);
		}
		fh_setup_own(&l);
	}
	int error = pid < 0 ? errno : 0;
	if (error && network >= 0) {
		fh_netns_give_back(h->networks, (size_t)network);
		network = -1;
	}
	answer(m->token, error, pidfd, network);
	if (ranges) {
		close(ask[1]);
		close(go[0]);
		if (pid > 0)
			give_ids((pid_t)pid, m->first_id, ask[0], go[1]);
		close(ask[0]);
		close(go[1]);
	}
	if (pidfd >= 0)
		close(pidfd);
}

static bool take_template(struct holder *h, const struct fh_holder_template *m, size_t size, const int *fds,
                          int fd_count)
{
	struct fh_error err = FH_ERROR_INIT;
	if (size != sizeof(*m) || fd_count != 2 || m->plan_size > FH_FRAME_PAYLOAD_MAX)
		return false;
	void *plan = mmap(NULL, m->plan_size, PROT_READ, MAP_PRIVATE, fds[1], 0);
	if (plan == MAP_FAILED)
		return false;
	bool ok = fh_plan_decode((struct fh_str){ plan, m->plan_size }, &h->plan, &err) == 0;
	munmap(plan, m->plan_size);
	close(fds[1]);
	h->template = *m;
	h->init_image = fds[0];
	return ok;
}

int fh_holder_main(void)
{
	static struct fh_netns_pool networks;
	struct holder h = { .init_image = -1, .networks = &networks };
	union {
		uint32_t op;
		struct fh_holder_template template;
		struct fh_holder_make make;
	} packet;
	int fds[FH_PACKET_FDS_MAX], fd_count;
	fh_netns_pool_init(&networks);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "fumehood-holder");
	ssize_t n = fh_packet_receive(FH_HOLDER_SOCKET, &packet, sizeof(packet), fds, &fd_count);
	if (n < 4 || packet.op != FH_HOLDER_TEMPLATE || !take_template(&h, &packet.template, (size_t)n, fds, fd_count))
		return n == 0 ? 0 : 1;
	while ((n = fh_packet_receive(FH_HOLDER_SOCKET, &packet, sizeof(packet), fds, &fd_count)) > 0) {
		if (n != (ssize_t)sizeof(packet.make) || packet.op != FH_HOLDER_MAKE)
			return 1;
		make(&h, &packet.make, fds, fd_count);
		for (int i = 0; i < fd_count; i++)
			close(fds[i]);
	}
	return n == 0 ? 0 : 1;
}
