/* SPDX-License-Identifier: MIT */
/* The engine's side of holder.h: asks a template's holder for sandboxes, and takes them. */
#include "engine/core/sandbox.h"
#include "engine/warm/template.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/core/children.h"
#include "engine/host/packet.h"
#include "engine/make/holder.h"
#include "engine/warm/made.h"

static int ask_holder(struct fh_template *t, struct fh_sandbox *b)
{
	struct fh_holder_make m = { .op = FH_HOLDER_MAKE, .token = b->token };
	int fds[2 + FH_CG_COUNT_], pair[2], size = 1 << 20;
	size_t count = 0;
	t = t->trunk;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	(void)fh_set_nonblock(pair[0], true);
	fds[count++] = pair[1];
	if (b->cgroup.host) {
		m.entries = (uint32_t)fh_cgroup_entries(&b->cgroup, t->ids.ranges, fds + count);
		count += m.entries;
		int group = fh_cgroup_v2_dir(&b->cgroup);
		m.into = group >= 0 && !t->ids.ranges;
		if (m.into)
			fds[count++] = group;
	}
	if (t->ids.ranges)
		m.first_id = fh_ids_in_template(&t->ids, &b->ids);
	m.over_count = t->over_count;
	memcpy(m.over, t->over, sizeof(m.over));
	int r = fh_packet_send(t->holder_socket, &m, sizeof(m), fds, count);
	close(pair[1]);
	if (r < 0) {
		close(pair[0]);
		return r;
	}
	t->over_count = 0;
	b->child.socket = pair[0];
	b->asked = true;
	return 0;
}

void fh_template_reaped(struct fh_sandbox *b)
{
	struct fh_template *t = b->template ? b->template->trunk : NULL;
	uint32_t network = b->network;
	b->network = 0;
	if (t && network && t->over_count < FH_NETNS_MAX)
		t->over[t->over_count++] = (uint8_t)(network - 1);
}

int fh_template_make(struct fh_template *t, struct fh_sandbox *b, struct fh_error *err)
{
	if (t->state >= FH_TEMPLATE_ENDING)
		return fh_error_set(err, FH_E_UNAVAILABLE, "the template has ended: %s", t->why);
	if (t->state != FH_TEMPLATE_SERVING)
		return 0; /* the request is sent when the template serves */
	int r = ask_holder(t, b);
	if (r == -EAGAIN || r == -EMFILE) /* the queue is full: more was asked for than the holder takes at once */
		return fh_error_sys(err, -r, "the template's holder is busy");
	if (r < 0) {
		fh_error_sys(err, -r, "cannot ask the template's holder");
		return -FH_E_SYSTEM;
	}
	fh_made_on_launched(b); /* starts to watch the sandbox's socket */
	return 0;
}

static void on_made(struct fh_template *t, const struct fh_holder_made *m, int pidfd)
{
	struct fh_sandbox *b = t->engine->sandboxes;
	while (b && (b->token != m->token || !b->template || b->template->trunk != t))
		b = b->next;
	if (!b || b->child.pidfd >= 0 || b->state >= FH_SWEEPING) {
		/* The sandbox was given up meanwhile. The child ends because its socket is closed, but must still be reaped. */
		if (pidfd >= 0)
			fh_reap_later(t->engine->loop, pidfd);
		return;
	}
	if (m->error || pidfd < 0) {
		struct fh_error err = FH_ERROR_INIT;
		fh_error_sys(&err, m->error ? m->error : EPROTO, "the template's holder cannot make a sandbox");
		if (pidfd >= 0)
			fh_reap_later(t->engine->loop, pidfd);
		if (b->state == FH_DYING || b->parked)
			fh_sandbox_gone_unmade(b);
		else
			fh_made_fall_back(b, err.message);
		return;
	}
	b->child.pidfd = pidfd;
	b->network = m->network <= FH_NETNS_MAX ? m->network : 0;
	fh_made_on_launched(b);
}

static void on_holder(struct fh_watch *w, uint32_t events)
{
	struct fh_template *t = w->owner;
	struct fh_holder_made m;
	int fds[FH_PACKET_FDS_MAX], count;
	(void)events;
	while (t->holder_socket >= 0) {
		ssize_t n = fh_packet_receive(t->holder_socket, &m, sizeof(m), fds, &count);
		if (n == -EAGAIN)
			return;
		for (int i = 1; i < count; i++)
			close(fds[i]);
		if (n != (ssize_t)sizeof(m) || m.op != FH_HOLDER_MADE) {
			if (count)
				close(fds[0]);
			fh_template_break(t, n == 0 ? "its holder ended" : "its holder sent an invalid message");
			return;
		}
		on_made(t, &m, count ? fds[0] : -1);
	}
}

static bool send_template(struct fh_template *t)
{
	struct fh_holder_template m = { .op = FH_HOLDER_TEMPLATE, .ranges = t->ids.ranges };
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf plan = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
	fh_auto_close int memory = memfd_create("fumehood-plan", MFD_CLOEXEC);
	struct fh_plan *park =
	    fh_plan_copy(t->plan); /* copies the plan without what belongs to a single request: files and stdin */
	for (size_t i = 0; i < park->file_count; i++) {
		free(park->files[i].name);
		free(park->files[i].content.data);
	}
	park->file_count = 0;
	free(park->stdin_data.data);
	park->stdin_data = (struct fh_bytes_owned){ NULL, 0 };
	for (size_t i = 0; i < park->mount_count;
	     i++) { /* the contents of the plan's files are in the shared root already */
		free(park->mounts[i].content.data);
		park->mounts[i].content = (struct fh_bytes_owned){ NULL, 0 };
	}
	fh_plan_encode(&plan, park);
	fh_plan_free(park);
	m.uid = t->plan->uid; /* without ranges: the single id, as seen in the template's user namespace */
	m.gid = t->plan->gid;
	m.plan_size = plan.n;
	int fds[2] = { fh_launch_init_image(&err), memory };
	return memory >= 0 && fds[0] >= 0 && fh_write_all(memory, plan.p, plan.n) == 0 &&
	       fh_packet_send(t->holder_socket, &m, sizeof(m), fds, 2) == 0;
}

bool fh_holder_begin(struct fh_template *t)
{
	t->holder_watch = (struct fh_watch){ .fd = -1, .on_event = on_holder, .owner = t };
	(void)fh_watch_set(t->engine->loop, &t->holder_watch, t->holder_socket, EPOLLIN);
	return send_template(t);
}
