/* SPDX-License-Identifier: MIT */
#include "engine/serve/handler.h"

#include "engine/core/sandbox.h"
#include "engine/serve/requests.h"
#include "engine/serve/run.h"
#include "engine/serve/survey.h"

static void on_close(struct fh_engine *e, struct fh_connection *c)
{
	fh_run_forget_deferred(e, c, 0);
	(void)fh_surveys_end(c, 0);
}

static void settle(struct fh_engine *e)
{
	bool needed = !e->leaving && (e->main || (e->service && e->connections));
	for (const struct fh_sandbox *b = e->sandboxes; b && !needed; b = b->next)
		needed = !b->parked;
	if (e->service && !e->leaving)
		return; /* main.c ends a service that was idle for long */
	if (needed)
		return;
	fh_template_end_all(e);
	if (!e->sandboxes && !e->templates)
		e->stop = 1;
}

const struct fh_handler fh_request_handler = { .on_frame = fh_request, .on_close = on_close, .settle = settle };
