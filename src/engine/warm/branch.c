/* SPDX-License-Identifier: MIT */
/* Trees of zygotes; template.h describes them. */
#include "engine/warm/branch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/core/children.h"
#include "engine/host/packet.h"
#include "engine/warm/decide.h"

/* Whether the plan has the key of t once its list of modules is replaced by that of t. */
static bool differs_in_modules_alone(const struct fh_template *t, const struct fh_plan *plan, uid_t owner)
{
	fh_auto_buf struct fh_buf key = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
	struct fh_plan *as = fh_plan_copy(plan);
	fh_plan_set_strings(&as->zygote.preload, (const char *const *)t->plan->zygote.preload);
	fh_plan_set_strings(&as->zygote.preload_identity, (const char *const *)t->plan->zygote.preload_identity);
	fh_template_key(&key, as, owner);
	fh_plan_free(as);
	return key.n == t->key.n && memcmp(key.p, t->key.p, key.n) == 0;
}

struct fh_template *fh_template_nearest(struct fh_engine *e, const struct fh_plan *plan, uid_t owner)
{
	char *const *wanted = plan->zygote.preload;
	struct fh_template *best = NULL;
	ssize_t nearest = -1;
	if (!plan->zygote.main_file || !fh_modules_can_branch(wanted))
		return NULL;
	for (struct fh_template *t = e->templates; t; t = t->next) {
		if (t->state != FH_TEMPLATE_SERVING || t->stem_socket < 0 || t->succeeded)
			continue;
		ssize_t near = fh_decide_nearness(wanted, t->plan->zygote.preload);
		if (near > nearest && fh_modules_agree(&plan->zygote, &t->plan->zygote) &&
		    differs_in_modules_alone(t, plan, owner)) {
			best = t;
			nearest = near;
		}
	}
	return best;
}

/* Discards what the trunk's zygote and its branches have printed; true if there was anything. */
static bool drain(struct fh_template *trunk)
{
	bool any = false;
	for (int i = 0; i < 2; i++) {
		int n = 0;
		char text[4096];
		while (ioctl(trunk->zygote_output[i], FIONREAD, &n) == 0 && n > 0 &&
		       read(trunk->zygote_output[i], text, FH_MIN((size_t)n, sizeof(text))) > 0)
			any = true;
	}
	return any;
}

bool fh_template_has_printed(struct fh_template *t)
{
	return drain(t->trunk);
}

static int ask(struct fh_template *from, struct fh_template *t)
{
	struct fh_zygote_branch m = { .h = { FH_ZYGOTE_BRANCH, t->branch_token } };
	fh_auto_buf struct fh_buf packet = FH_BUF_INIT(sizeof(m) + FH_ZYGOTE_PRELOAD_MAX);
	fh_auto_close int theirs = -1;
	(void)fh_buf_add(&packet, &m, sizeof(m));
	for (char *const *name = t->plan->zygote.preload; *name; name++)
		if (!fh_modules_have(from->plan->zygote.preload, *name))
			fh_buf_addf(&packet, "%s%s", packet.n > sizeof(m) ? "," : "", *name);
	if (packet.overflowed)
		return -E2BIG;
	m.preload_size = (uint32_t)(packet.n - sizeof(m));
	memcpy(packet.p, &m, sizeof(m));
	int r = fh_template_pair(&t->zygote_socket, &theirs);
	return r < 0 ? r : fh_packet_send(from->stem_socket, packet.p, packet.n, &theirs, 1);
}

struct fh_template *fh_template_branch(struct fh_template *from, const struct fh_plan *plan, struct fh_buf *key)
{
	struct fh_template *trunk = from->trunk;
	if (trunk->branching)
		return NULL;
	(void)drain(trunk); /* output of an earlier branch that was given up */
	struct fh_template *t = fh_template_new(from->engine, plan, from->owner, key);
	t->trunk = trunk;
	t->branch_token = ++from->engine->next_token;
	t->state = FH_TEMPLATE_ZYGOTE;
	if (ask(from, t) < 0) {
		if (t->zygote_socket >= 0)
			close(t->zygote_socket);
		*key = t->key;
		t->key = (struct fh_buf){ 0 };
		fh_template_discard(t);
		return NULL;
	}
	trunk->branching = true;
	trunk->branches++;
	fh_template_list(t);
	return t;
}

static void on_branched(struct fh_template *from, const struct fh_zygote_forked *m, int pidfd)
{
	struct fh_template *t = from->engine->templates;
	while (t && !(t->trunk == from->trunk && t->branch_token == m->h.token && t->state == FH_TEMPLATE_ZYGOTE &&
	              t->zygote.pidfd < 0))
		t = t->next;
	if (t && pidfd >= 0) {
		fh_template_add_zygote(t, pidfd);
		return;
	}
	if (pidfd >= 0) /* the branch's template was ended meanwhile; the zygote exits since its socket is closed */
		fh_reap_later(from->engine->loop, pidfd);
	if (t) {
		char why[120];
		snprintf(why, sizeof(why), "its zygote cannot be branched (step %u): %s", m->step,
		         strerror(m->error ? m->error : EPROTO));
		fh_template_break(t, why);
	}
}

void fh_template_on_stem(struct fh_watch *w, uint32_t events)
{
	struct fh_template *t = w->owner;
	struct fh_zygote_forked m;
	int fds[FH_PACKET_FDS_MAX], count;
	(void)events;
	while (t->stem_socket >= 0) {
		ssize_t n = fh_packet_receive(t->stem_socket, &m, sizeof(m), fds, &count);
		if (n == -EAGAIN)
			return;
		for (int i = 1; i < count; i++)
			close(fds[i]);
		if (n == (ssize_t)sizeof(m) && m.h.op == FH_ZYGOTE_FORKED) {
			on_branched(t, &m, count ? fds[0] : -1);
			continue;
		}
		if (count)
			close(fds[0]);
		fh_template_break(t, n == 0 ? "its stem ended" : "its stem sent an invalid message");
		return;
	}
}
