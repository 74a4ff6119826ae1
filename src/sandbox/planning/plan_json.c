/* SPDX-License-Identifier: MIT */
#include "proto/plan.h"

#include <limits.h>
#include <stdio.h>

#include "base/text/base64.h"
#include "base/text/nearest.h"
#include "base/utf8.h"
#include "json/json.h"
#include "sandbox/planning/json_reader.h"

/*
 * The JSON form of a plan. All keys of a plan are always present, in this order; in mounts and files, keys with a
 * default value (mode 0, false) are omitted. Texts and contents that JSON cannot represent are { "base64": "…" }.
 * Limits are numbers in the units of fh_limit_table, or null for no limit.
 */
#define PLAN_VERSION 1

/* ---------------------------------------------------------------------------------------------------------- writing */

static json_t *bytes_json(const void *data, size_t n)
{
	struct fh_str s = { n ? data : "", n };
	if (fh_utf8_valid(s))
		return json_stringn(s.p, s.n);
	fh_auto_buf struct fh_buf encoded = FH_BUF_INIT(0);
	fh_base64_encode(&encoded, s);
	json_t *o = json_object();
	json_object_set_new(o, "base64", json_stringn(fh_buf_cstr(&encoded), encoded.n));
	return o;
}

static json_t *text_json(const char *s)
{
	return s ? bytes_json(s, strlen(s)) : json_null();
}

static json_t *list_json(char *const *list)
{
	json_t *a = json_array();
	for (; *list; list++)
		json_array_append_new(a, text_json(*list));
	return a;
}

static json_t *layers_json(uint32_t bits)
{
	json_t *a = json_array();
	for (int i = 0; i < FH_LAYER_COUNT_; i++)
		if (bits >> i & 1)
			json_array_append_new(a, json_string(fh_layer_name(i)));
	return a;
}

static json_t *limits_json(const struct fh_limits *l)
{
	json_t *o = json_object();
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		json_object_set_new(o, fh_limit_table[i].name,
		                    l->value[i] == FH_UNLIMITED ? json_null() : json_integer((json_int_t)l->value[i]));
	return o;
}

/* Writes permissions in octal, as people do. */
static void put_mode(json_t *o, uint32_t mode)
{
	char text[16];
	snprintf(text, sizeof(text), "%04o", mode);
	if (mode)
		json_object_set_new(o, "mode", json_string(text));
}

static json_t *mount_json(const struct fh_plan_mount *m)
{
	json_t *o = json_object();
	json_object_set_new(o, "kind", json_string(fh_mount_kind_names[m->kind]));
	json_object_set_new(o, "target", text_json(m->target));
	if (m->source)
		json_object_set_new(o, "source", text_json(m->source));
	if (m->kind == FH_MOUNT_FILE || m->content.size > 0)
		json_object_set_new(o, "content", bytes_json(m->content.data, m->content.size));
	put_mode(o, m->mode);
	if (m->writable)
		json_object_set_new(o, "writable", json_true());
	if (m->optional)
		json_object_set_new(o, "optional", json_true());
	return o;
}

static json_t *file_json(const struct fh_plan_file *f)
{
	json_t *o = json_object();
	json_object_set_new(o, "name", text_json(f->name));
	put_mode(o, f->mode);
	json_object_set_new(o, "content", bytes_json(f->content.data, f->content.size));
	return o;
}

static json_t *descriptor_json(const struct fh_descriptor *d)
{
	json_t *o = json_object();
	json_object_set_new(o, "number", json_integer(d->number));
	json_object_set_new(o, "kind", json_string(fh_descriptor_kind_name(d->kind)));
	return o;
}

static json_t *zygote_json(const struct fh_plan_zygote *z)
{
	if (!z->main_file)
		return json_null();
	json_t *o = json_object();
	json_object_set_new(o, "main_file", json_integer(z->main_file));
	json_object_set_new(o, "options", list_json(z->options));
	json_object_set_new(o, "env", list_json(z->env));
	json_object_set_new(o, "preload", list_json(z->preload));
	json_object_set_new(o, "preload_identity", list_json(z->preload_identity));
	return o;
}

static json_t *plan_json(const struct fh_plan *p)
{
	json_t *o = json_object(), *mounts = json_array(), *files = json_array(), *descriptors = json_array();
	json_object_set_new(o, "version", json_integer(PLAN_VERSION));
	json_object_set_new(o, "language", text_json(p->language));
	json_object_set_new(o, "interpreter", text_json(p->interpreter));
	json_object_set_new(o, "code_name", text_json(p->code_name));
	json_object_set_new(o, "argv", list_json(p->argv));
	json_object_set_new(o, "env", list_json(p->env));
	json_object_set_new(o, "cwd", text_json(p->cwd));
	json_object_set_new(o, "uid", json_integer(p->uid));
	json_object_set_new(o, "gid", json_integer(p->gid));
	json_object_set_new(o, "hostname", text_json(p->hostname));
	json_object_set_new(o, "layers", layers_json(p->layers));
	if (p->root_capabilities)
		json_object_set_new(o, "root_capabilities", json_true());
	json_object_set_new(o, "require", layers_json(p->require));
	json_object_set_new(o, "limits", limits_json(&p->limits));
	json_object_set_new(o, "image", text_json(p->image));
	json_object_set_new(o, "image_identity", text_json(p->image_identity));
	for (size_t i = 0; i < p->mount_count; i++)
		json_array_append_new(mounts, mount_json(&p->mounts[i]));
	json_object_set_new(o, "mounts", mounts);
	for (size_t i = 0; i < p->file_count; i++)
		json_array_append_new(files, file_json(&p->files[i]));
	json_object_set_new(o, "files", files);
	json_object_set_new(o, "outs", list_json(p->outs));
	json_object_set_new(o, "out_max_bytes", json_integer((json_int_t)p->out_max_bytes));
	json_object_set_new(o, "stdin", bytes_json(p->stdin_data.data, p->stdin_data.size));
	for (size_t i = 0; i < p->descriptor_count; i++)
		json_array_append_new(descriptors, descriptor_json(&p->descriptors[i]));
	json_object_set_new(o, "descriptors", descriptors);
	json_object_set_new(o, "start", json_string(fh_start_name(p->start)));
	json_object_set_new(o, "zygote", zygote_json(&p->zygote));
	json_object_set_new(o, "artifact", text_json(p->artifact));
	json_object_set_new(o, "compile", p->compile ? plan_json(p->compile) : json_null());
	return o;
}

int fh_plan_to_json(const struct fh_plan *plan, char **ret_json, struct fh_error *err)
{
	fh_auto_json json_t *o = plan_json(plan);
	*ret_json = fh_json_text(o, 2);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static int read_base64(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_bytes_owned *bytes = target;
	fh_auto_free char *text = NULL;
	int code = fh_json_read_text(r, value, &text);
	if (code < 0)
		return code;
	struct fh_buf out = FH_BUF_INIT(0);
	if (fh_base64_decode(&out, fh_str(text)) < 0) {
		fh_buf_release(&out);
		return fh_json_reader_fail(r, "this is not base64");
	}
	free(bytes->data);
	bytes->data = (uint8_t *)fh_buf_take(&out, &bytes->size);
	return 0;
}

static int read_bytes(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = { { "base64", read_base64, 0, true }, { NULL } };
	struct fh_bytes_owned *bytes = target;
	if (json_is_object(value))
		return fh_json_read_object(r, value, fields, target);
	if (!json_is_string(value))
		return fh_json_reader_fail(r, "expected a string or {\"base64\": …}, not %s", fh_json_kind(value));
	free(bytes->data);
	bytes->size = json_string_length(value);
	bytes->data = fh_xmemdup(json_string_value(value), bytes->size);
	return 0;
}

static int read_text(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_bytes_owned bytes = { 0 };
	int code = read_bytes(r, value, &bytes);
	if (code == 0 && memchr(bytes.data, '\0', bytes.size))
		code = fh_json_reader_fail(r, "a NUL character is not allowed here");
	if (code == 0)
		fh_plan_set_text(target,
		                 (const char *)bytes.data); /* a NUL follows the bytes: both functions that fill it add one */
	free(bytes.data);
	return code;
}

static int read_nullable(struct fh_json_reader *r, const json_t *value, void *target)
{
	return json_is_null(value) ? 0 : read_text(r, value, target);
}

static int add_text(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *text = NULL;
	int code = read_text(r, value, &text);
	if (code == 0)
		fh_plan_add_string(target, text);
	return code;
}

static int read_list(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_plan_set_strings(target, NULL);
	return fh_json_read_each(r, value, add_text, target);
}

static int read_u32(struct fh_json_reader *r, const json_t *value, void *target)
{
	uint64_t n;
	int code = fh_json_read_u64(r, value, &n);
	if (code < 0)
		return code;
	if (n > UINT32_MAX)
		return fh_json_reader_fail(r, "%llu is too large", (unsigned long long)n);
	*(uint32_t *)target = (uint32_t)n;
	return 0;
}

static int read_version(struct fh_json_reader *r, const json_t *value, void *target)
{
	uint64_t n;
	int code = fh_json_read_u64(r, value, &n);
	if (code == 0 && n != PLAN_VERSION)
		code = fh_json_reader_fail(r, "a plan of version %llu; this program reads version %d", (unsigned long long)n,
		                           PLAN_VERSION);
	return code;
}

static int read_mode(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *text = NULL;
	int code = fh_json_read_text(r, value, &text);
	if (code < 0)
		return code;
	size_t n = strlen(text);
	if (n == 0 || n > 5 || strspn(text, "01234567") != n || strtoul(text, NULL, 8) > 07777)
		return fh_json_reader_fail(r, "a mode is an octal number such as \"0644\"");
	*(uint32_t *)target = (uint32_t)strtoul(text, NULL, 8);
	return 0;
}

static int add_layer(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *name = NULL;
	int code = fh_json_read_text(r, value, &name);
	if (code < 0)
		return code;
	struct fh_nearest near = FH_NEAREST_INIT(name);
	for (int i = 0; i < FH_LAYER_COUNT_; i++) {
		if (fh_streq(name, fh_layer_name(i))) {
			*(uint32_t *)target |= 1u << i;
			return 0;
		}
		fh_nearest_offer(&near, fh_layer_name(i));
	}
	code = fh_json_reader_fail(r, "unknown layer \"%s\"", name);
	if (near.best)
		fh_error_hint(r->err, "did you mean \"%s\"?", near.best);
	return code;
}

static int read_layers(struct fh_json_reader *r, const json_t *value, void *target)
{
	*(uint32_t *)target = 0;
	return fh_json_read_each(r, value, add_layer, target);
}

static int read_limit(struct fh_json_reader *r, const json_t *value, void *target)
{
	if (json_is_null(value)) {
		*(uint64_t *)target = FH_UNLIMITED;
		return 0;
	}
	return fh_json_read_u64(r, value, target);
}

static int read_limits(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_json_field fields[FH_LIMIT_COUNT_ + 1] = { 0 };
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		fields[i] = (struct fh_json_field){ fh_limit_table[i].name, read_limit,
			                                offsetof(struct fh_limits, value) + i * sizeof(uint64_t), false };
	return fh_json_read_object(r, value, fields, target);
}

static int read_kind(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *name = NULL;
	int code = fh_json_read_text(r, value, &name);
	if (code < 0)
		return code;
	struct fh_nearest near = FH_NEAREST_INIT(name);
	for (int i = 0; i < FH_MOUNT_KIND_COUNT_; i++) {
		if (fh_streq(name, fh_mount_kind_names[i])) {
			*(enum fh_mount_kind *)target = i;
			return 0;
		}
		fh_nearest_offer(&near, fh_mount_kind_names[i]);
	}
	code = fh_json_reader_fail(r, "unknown kind of mount \"%s\"", name);
	if (near.best)
		fh_error_hint(r->err, "did you mean \"%s\"?", near.best);
	return code;
}

static int add_mount(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "kind", read_kind, offsetof(struct fh_plan_mount, kind), true },
		{ "target", read_text, offsetof(struct fh_plan_mount, target), true },
		{ "source", read_text, offsetof(struct fh_plan_mount, source), false },
		{ "content", read_bytes, offsetof(struct fh_plan_mount, content), false },
		{ "mode", read_mode, offsetof(struct fh_plan_mount, mode), false },
		{ "writable", fh_json_read_bool, offsetof(struct fh_plan_mount, writable), false },
		{ "optional", fh_json_read_bool, offsetof(struct fh_plan_mount, optional), false },
		{ NULL },
	};
	struct fh_plan_mount *m = fh_plan_add_mount(target, FH_MOUNT_BIND, "", NULL);
	return fh_json_read_object(r, value, fields, m);
}

/* Reads a list of mounts; `target` is the whole plan. */
static int read_mounts(struct fh_json_reader *r, const json_t *value, void *target)
{
	return fh_json_read_each(r, value, add_mount, target);
}

static int add_file(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "name", read_text, offsetof(struct fh_plan_file, name), true },
		{ "mode", read_mode, offsetof(struct fh_plan_file, mode), false },
		{ "content", read_bytes, offsetof(struct fh_plan_file, content), true },
		{ NULL },
	};
	struct fh_plan_file *f = fh_plan_add_file(target, "", "", 0, 0);
	return fh_json_read_object(r, value, fields, f);
}

static int read_files(struct fh_json_reader *r, const json_t *value, void *target)
{
	return fh_json_read_each(r, value, add_file, target);
}

static int read_descriptor_kind(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *name = NULL;
	int code = fh_json_read_text(r, value, &name);
	for (int i = 0; code == 0 && i < FH_DESCRIPTOR_KIND_COUNT_; i++)
		if (fh_streq(name, fh_descriptor_kind_name(i))) {
			*(enum fh_descriptor_kind *)target = i;
			return 0;
		}
	return code < 0 ? code : fh_json_reader_fail(r, "a descriptor is of kind in, out or driver, not \"%s\"", name);
}

static int read_number(struct fh_json_reader *r, const json_t *value, void *target)
{
	uint32_t n = 0;
	int code = read_u32(r, value, &n);
	/* -1 is not a valid number; checking the plan reports it */
	*(int *)target = code == 0 && n <= INT_MAX ? (int)n : -1;
	return code;
}

static int add_descriptor(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "number", read_number, offsetof(struct fh_descriptor, number), true },
		{ "kind", read_descriptor_kind, offsetof(struct fh_descriptor, kind), true },
		{ NULL },
	};
	struct fh_plan *plan = target;
	if (plan->descriptor_count >= FH_DESCRIPTORS_MAX)
		return fh_json_reader_fail(r, "more than %d descriptors", FH_DESCRIPTORS_MAX);
	return fh_json_read_object(r, value, fields, &plan->descriptors[plan->descriptor_count++]);
}

/* Reads a list of descriptors; `target` is the whole plan. */
static int read_descriptors(struct fh_json_reader *r, const json_t *value, void *target)
{
	return fh_json_read_each(r, value, add_descriptor, target);
}

static int read_start(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *name = NULL;
	int code = fh_json_read_text(r, value, &name);
	for (int i = 0; code == 0 && i < FH_START_COUNT_; i++)
		if (fh_streq(name, fh_start_name((enum fh_start)i))) {
			*(enum fh_start *)target = (enum fh_start)i;
			return 0;
		}
	return code ? code : fh_json_reader_fail(r, "a start is \"auto\", \"fresh\", \"zygote\" or \"parked\"");
}

static int read_zygote(struct fh_json_reader *r, const json_t *value, void *target)
{
	static const struct fh_json_field fields[] = {
		{ "main_file", read_u32, offsetof(struct fh_plan_zygote, main_file), true },
		{ "options", read_list, offsetof(struct fh_plan_zygote, options), false },
		{ "env", read_list, offsetof(struct fh_plan_zygote, env), false },
		{ "preload", read_list, offsetof(struct fh_plan_zygote, preload), false },
		{ "preload_identity", read_list, offsetof(struct fh_plan_zygote, preload_identity), false },
		{ NULL },
	};
	return json_is_null(value) ? 0 : fh_json_read_object(r, value, fields, target);
}

static int read_plan(struct fh_json_reader *r, const json_t *value, void *target);

static int read_compile(struct fh_json_reader *r, const json_t *value, void *target)
{
	struct fh_plan **compile = target;
	if (json_is_null(value))
		return 0;
	if (r->depth > 1)
		return fh_json_reader_fail(r, "a compile step has no compile step of its own");
	fh_plan_free(*compile);
	*compile = fh_plan_new();
	return read_plan(r, value, *compile);
}

static int read_plan(struct fh_json_reader *r, const json_t *value, void *target)
{
#define AT(member) offsetof(struct fh_plan, member)
	static const struct fh_json_field fields[] = {
		{ "version", read_version, 0, true },
		{ "language", read_text, AT(language), false },
		{ "interpreter", read_text, AT(interpreter), false },
		{ "code_name", read_text, AT(code_name), false },
		{ "argv", read_list, AT(argv), true },
		{ "env", read_list, AT(env), false },
		{ "cwd", read_text, AT(cwd), false },
		{ "uid", read_u32, AT(uid), false },
		{ "gid", read_u32, AT(gid), false },
		{ "hostname", read_text, AT(hostname), false },
		{ "layers", read_layers, AT(layers), false },
		{ "root_capabilities", fh_json_read_bool, AT(root_capabilities), false },
		{ "require", read_layers, AT(require), false },
		{ "limits", read_limits, AT(limits), false },
		{ "image", read_nullable, AT(image), false },
		{ "image_identity", read_nullable, AT(image_identity), false },
		{ "mounts", read_mounts, 0, true },
		{ "files", read_files, 0, false },
		{ "outs", read_list, AT(outs), false },
		{ "out_max_bytes", fh_json_read_u64, AT(out_max_bytes), false },
		{ "stdin", read_bytes, AT(stdin_data), false },
		{ "descriptors", read_descriptors, 0, false },
		{ "start", read_start, AT(start), false },
		{ "zygote", read_zygote, AT(zygote), false },
		{ "artifact", read_nullable, AT(artifact), false },
		{ "compile", read_compile, AT(compile), false },
		{ NULL },
	};
#undef AT
	return fh_json_read_object(r, value, fields, target);
}

/* Checks what must hold between members; the engine will check it again. */
static int check(struct fh_json_reader *r, const struct fh_plan *plan)
{
	struct fh_error why = FH_ERROR_INIT;
	if (!plan->argv[0])
		return fh_json_reader_fail(r, "\"argv\" is empty");
	if (!plan->compile != !plan->artifact)
		return fh_json_reader_fail(r, "\"compile\" and \"artifact\" go together");
	if (fh_plan_check(plan, &why) < 0)
		return fh_json_reader_fail(r, "%s", why.message);
	if (plan->compile && fh_plan_check(plan->compile, &why) < 0)
		return fh_json_reader_fail(r, "compile: %s", why.message);
	return 0;
}

int fh_plan_from_json(const char *json, size_t n, const char *name, struct fh_plan **ret, struct fh_error *err)
{
	struct fh_error unused;
	struct fh_json_reader r = { .text = { json, n }, .name = name ? name : "plan", .err = err ? err : &unused };
	fh_auto_json json_t *root = fh_json_parse(r.text, r.name, r.err);
	int code = root ? 0 : -FH_E_CONFIG;
	struct fh_plan *plan = fh_plan_new();
	fh_limits_init(&plan->limits);
	if (code == 0)
		code = read_plan(&r, root, plan);
	if (code == 0)
		code = check(&r, plan);
	if (code < 0) {
		fh_plan_free(plan);
		r.err->phase = FH_PHASE_PLAN;
		return code;
	}
	*ret = plan;
	return 0;
}
