/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/clock.h"
#include "cli/evals/eval_run.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/print.h"
#include "cli/shared/progress.h"
#include "store/store.h"

#define LOOK_NS (FH_NS_PER_S / 4)

static int ask(struct fh_store *s, const struct fh_eval_options *o, const struct fh_store_eval *e, struct fh_error *err)
{
	enum fh_store_wish wish = o->cancel ? FH_STORE_CANCEL : o->pause ? FH_STORE_PAUSE : FH_STORE_GO_ON;
	int r = fh_store_wish(s, e->number, wish, err);
	if (r == 0)
		fh_printf("%s: %s\n", e->id,
		          o->cancel  ? "finishes what is under way, and ends"
		          : o->pause ? "begins no test until --go-on"
		                     : "goes on");
	return r;
}

static void show(struct fh_progress *p, const struct fh_store_eval *e)
{
	char note[128];
	snprintf(note, sizeof(note), "passed %llu failed %llu errors %llu", (unsigned long long)e->passed,
	         (unsigned long long)e->failed, (unsigned long long)e->errors);
	fh_progress_step(p, e->passed + e->failed + e->errors, note);
}

/* Shows the eval's progress until it ends. Ctrl-C ends only this display. */
static int watch(struct fh_store *s, const struct fh_eval_options *o, struct fh_store_eval *e, struct fh_error *err)
{
	struct fh_progress *p = fh_progress_new("eval", e->total, !o->progress_bar);
	int r = 0;
	while (e->state == FH_STORE_RUNNING && !fh_interrupted && r == 0) {
		fh_auto_free char *id = fh_xstrdup(e->id);
		show(p, e);
		fh_sleep_ns(LOOK_NS);
		fh_store_eval_release(e);
		r = fh_store_find(s, id, e, err);
	}
	fh_progress_free(p);
	if (r == 0)
		fh_printf("%s is %s: %llu of %llu, %llu passed, %llu failed, %llu errors\n", e->id,
		          fh_store_state_name(e->state), (unsigned long long)(e->passed + e->failed + e->errors),
		          (unsigned long long)e->total, (unsigned long long)e->passed, (unsigned long long)e->failed,
		          (unsigned long long)e->errors);
	return r;
}

int fh_eval_attach(const struct fh_eval_options *o, int *ret_status, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	bool asks = o->pause || o->go_on || o->cancel;
	int r = fh_store_open(NULL, !asks, &s, err);
	if (r == 0)
		r = fh_store_find(s, o->attach, &e, err);
	if (r == 0)
		r = asks ? ask(s, o, &e, err) : watch(s, o, &e, err);
	fh_store_eval_release(&e);
	*ret_status = r == 0 && fh_interrupted ? FH_EXIT_INTERRUPTED : FH_EXIT_OK;
	return r;
}
