/* SPDX-License-Identifier: MIT */
/* Forms in a request's body, parsed by libmicrohttpd. */
#include "server/http_internal.h"

struct fh_http_form {
	struct MHD_PostProcessor *processor;
	fh_http_form_data *on_data;
	void *context;
};

static enum MHD_Result on_form_data(void *context, enum MHD_ValueKind kind, const char *name, const char *filename,
                                    const char *type, const char *encoding, const char *data, uint64_t offset, size_t n)
{
	struct fh_http_form *f = context;
	return f->on_data(f->context, name ? name : "", filename, offset, (struct fh_str){ data, n }) ? MHD_YES : MHD_NO;
}

FH_OWN FH_NULLABLE struct fh_http_form *fh_http_form_new(struct fh_http_request *r, fh_http_form_data *on_data,
                                                         void *context)
{
	struct fh_http_form *f = FH_NEW(struct fh_http_form);
	*f = (struct fh_http_form){ .on_data = on_data, .context = context };
	f->processor = MHD_create_post_processor(r->connection, FH_HTTP_BLOCK, on_form_data, f);
	if (!f->processor)
		free(FH_TAKE_PTR(f));
	return f;
}

bool fh_http_form_add(struct fh_http_form *f, struct fh_str piece)
{
	return MHD_post_process(f->processor, piece.p, piece.n) == MHD_YES;
}

bool fh_http_form_end(struct fh_http_form *f)
{
	bool whole = !f || MHD_destroy_post_processor(f->processor) == MHD_YES;
	free(f);
	return whole;
}
