/* SPDX-License-Identifier: MIT */
/* Forms in a request's body, parsed by libmicrohttpd. */
#include "server/http_internal.h"

struct fh_http_form {
	struct MHD_PostProcessor *processor;
	fh_http_form_data *on_data;
	void *context;
	/* The last boundary, with the line break before it; the body is searched for it, as it comes, from the line break
	 * that a body may be thought to have before its start. NULL: the form has no parts. */
	char *last;
	size_t matched; /* bytes of `last` that the pieces until now end with; all of them: what follows is no form's */
};

/* What ends a form of this type. libmicrohttpd takes the same as the boundary. */
static char *last_boundary(const char *type)
{
	const char *name = type ? strstr(type, "boundary=") : NULL;
	if (!name)
		return NULL;
	const char *text = name + strlen("boundary=");
	size_t n = strlen(text);
	bool quoted = n > 1 && text[0] == '"' && text[n - 1] == '"';
	return fh_xasprintf("\r\n--%.*s--", (int)(quoted ? n - 2 : n), text + quoted);
}

/* How much of a piece belongs to the form. `last` begins with the only line break in it, so that a byte that does not
 * go on with a match can begin another one only by being that line break. */
static size_t size_of_form(struct fh_http_form *f, struct fh_str piece)
{
	size_t i = 0, n = f->last ? strlen(f->last) : 1;
	for (; f->last && i < piece.n && f->matched < n; i++)
		f->matched = piece.p[i] == f->last[f->matched] ? f->matched + 1 : piece.p[i] == '\r';
	return f->last ? i : piece.n;
}

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
	f->last = last_boundary(fh_http_header(r, "Content-Type"));
	f->matched = f->last ? strlen("\r\n") : 0;
	if (!f->processor)
		(void)fh_http_form_end(FH_TAKE_PTR(f));
	return f;
}

bool fh_http_form_add(struct fh_http_form *f, struct fh_str piece)
{
	size_t n = size_of_form(f, piece);
	return n == 0 || MHD_post_process(f->processor, piece.p, n) == MHD_YES;
}

bool fh_http_form_end(struct fh_http_form *f)
{
	bool whole = !f || !f->processor || MHD_destroy_post_processor(f->processor) == MHD_YES;
	if (f)
		free(f->last);
	free(f);
	return whole;
}
