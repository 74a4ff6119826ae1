/* SPDX-License-Identifier: MIT */
/* How contexts are started, for clients that speak the protocol themselves. */
#include "base/error.h"
#include "base/text/base64.h"
#include "sandbox/session/context.h"
#include "sandbox/session/proxy.h"
#include "sandbox/session/relay_image.h"

static json_t *image(const unsigned char *program, unsigned long size)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_base64_encode(&text, (struct fh_str){ (const char *)program, size });
	json_t *o = json_object();
	json_object_set_new(o, "base64", json_stringn(text.p, text.n));
	return o;
}

static int set_file(json_t *to, const char *name, struct fh_error *err)
{
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(1 << 20);
	int r = fh_context_file(name, &content, err);
	if (r == 0)
		json_object_set_new(to, name, fh_json_bytes(fh_buf_str(&content)));
	return r;
}

static int set_files(json_t *o, const struct fh_context_kind *kind, struct fh_error *err)
{
	json_t *files = json_object(), *program = json_object();
	int r = 0;
	json_object_set_new(o, "files", files);
	json_object_set_new(o, "program", program);
	for (const char *const *name = kind->files; r == 0 && *name; name++)
		r = set_file(files, *name, err);
	return r == 0 && kind->program ? set_file(program, kind->program, err) : r;
}

int fh_context_explain(const char *language, char **ret, struct fh_error *err)
{
	const struct fh_context_kind *kind;
	fh_auto_json json_t *o = json_object();
	int r = fh_context_kind_find(language, &kind, err);
	if (r < 0)
		return r;
	json_t *argv = json_array();
	for (const char *const *word = kind->argv; *word; word++)
		json_array_append_new(argv, json_string(*word));
	json_object_set_new(o, "language", json_string(kind->name));
	json_object_set_new(o, "argv", argv);
	json_object_set_new(o, "package", json_string(kind->package));
	json_object_set_new(o, "relay", kind->relay ? image(fh_relay_image, fh_relay_image_size) : json_null());
	json_object_set_new(o, "cannot_branch", kind->cannot_branch ? json_string(kind->cannot_branch) : json_null());
	json_object_set_new(o, "may_end", kind->may_end ? json_string(kind->may_end) : json_null());
	json_object_set_new(o, "proxy", kind->cannot_branch ? json_null() : image(fh_proxy_image, fh_proxy_image_size));
	r = set_files(o, kind, err);
	if (r == 0)
		*ret = fh_json_text(o, 0);
	return r;
}
