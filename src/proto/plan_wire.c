/* SPDX-License-Identifier: MIT */
/* The wire form of plans. Tags are never reused with another meaning; new ones are added at the end. */
#include "proto/plan.h"

#include "base/error.h"
#include "proto/wire.h"

enum plan_tag {
	P_IMAGE = 1,
	P_MOUNT,
	P_UID,
	P_GID,
	P_HOSTNAME,
	P_LAYERS,
	P_REQUIRE,
	P_LIMIT,
	P_ARGV,
	P_ENV,
	P_CWD,
	P_FILE,
	P_OUT,
	P_OUT_MAX,
	P_STDIN,
	P_LANGUAGE,
	P_INTERPRETER,
	P_CODE_NAME,
	P_DESCRIPTOR,
	P_START = 32,
	P_ZYGOTE,
	P_ROOT_CAPABILITIES,
	P_IMAGE_IDENTITY,
};
enum mount_tag { M_KIND = 1, M_TARGET, M_SOURCE, M_CONTENT, M_MODE, M_WRITABLE, M_OPTIONAL };
enum file_tag { T_NAME = 1, T_CONTENT, T_MODE };
enum zygote_tag { Z_MAIN_FILE = 1, Z_OPTION, Z_ENV, Z_PRELOAD, Z_PRELOAD_IDENTITY };
enum limit_tag { L_INDEX = 1, L_VALUE };
enum descriptor_tag { D_NUMBER = 1, D_KIND };

static void encode_list(struct fh_buf *out, uint16_t tag, char *const *list)
{
	for (; *list; list++)
		fh_wire_text(out, tag, *list);
}

static void encode_mount(struct fh_buf *out, const struct fh_plan_mount *m)
{
	size_t mark = fh_wire_begin(out, P_MOUNT);
	fh_wire_u64(out, M_KIND, m->kind);
	fh_wire_text(out, M_TARGET, m->target);
	if (m->source)
		fh_wire_text(out, M_SOURCE, m->source);
	if (m->content.size)
		fh_wire_bytes(out, M_CONTENT, m->content.data, m->content.size);
	if (m->mode)
		fh_wire_u64(out, M_MODE, m->mode);
	if (m->writable)
		fh_wire_u64(out, M_WRITABLE, 1);
	if (m->optional)
		fh_wire_u64(out, M_OPTIONAL, 1);
	fh_wire_end(out, mark);
}

static void encode_park(struct fh_buf *out, const struct fh_plan *p)
{
	if (p->image)
		fh_wire_text(out, P_IMAGE, p->image);
	if (p->image_identity)
		fh_wire_text(out, P_IMAGE_IDENTITY, p->image_identity);
	for (size_t i = 0; i < p->mount_count; i++)
		encode_mount(out, &p->mounts[i]);
	fh_wire_u64(out, P_UID, p->uid);
	fh_wire_u64(out, P_GID, p->gid);
	fh_wire_text(out, P_HOSTNAME, p->hostname);
	fh_wire_u64(out, P_LAYERS, p->layers);
	if (p->root_capabilities)
		fh_wire_u64(out, P_ROOT_CAPABILITIES, 1);
}

static void encode_zygote(struct fh_buf *out, const struct fh_plan_zygote *z)
{
	size_t mark = fh_wire_begin(out, P_ZYGOTE);
	fh_wire_u64(out, Z_MAIN_FILE, z->main_file);
	encode_list(out, Z_OPTION, z->options);
	encode_list(out, Z_ENV, z->env);
	encode_list(out, Z_PRELOAD, z->preload);
	encode_list(out, Z_PRELOAD_IDENTITY, z->preload_identity);
	fh_wire_end(out, mark);
}

void fh_plan_encode_key(struct fh_buf *out, const struct fh_plan *p, bool start)
{
	encode_park(out, p);
	fh_wire_u64(out, P_LIMIT, p->limits.value[FH_LIMIT_DISK]);
	if (!start)
		return;
	for (size_t i = 0; i <= p->zygote.main_file && p->argv[i]; i++)
		fh_wire_text(out, P_ARGV, p->argv[i]);
	encode_list(out, P_ENV, p->env);
	fh_wire_text(out, P_CWD, p->cwd);
	encode_zygote(out, &p->zygote);
}

void fh_plan_encode(struct fh_buf *out, const struct fh_plan *p)
{
	encode_park(out, p);
	fh_wire_u64(out, P_REQUIRE, p->require);
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		size_t mark = fh_wire_begin(out, P_LIMIT);
		fh_wire_u64(out, L_INDEX, (uint64_t)i);
		fh_wire_u64(out, L_VALUE, p->limits.value[i]);
		fh_wire_end(out, mark);
	}
	encode_list(out, P_ARGV, p->argv);
	encode_list(out, P_ENV, p->env);
	fh_wire_text(out, P_CWD, p->cwd);
	for (size_t i = 0; i < p->file_count; i++) {
		size_t mark = fh_wire_begin(out, P_FILE);
		fh_wire_text(out, T_NAME, p->files[i].name);
		fh_wire_bytes(out, T_CONTENT, p->files[i].content.data, p->files[i].content.size);
		fh_wire_u64(out, T_MODE, p->files[i].mode);
		fh_wire_end(out, mark);
	}
	encode_list(out, P_OUT, p->outs);
	fh_wire_u64(out, P_OUT_MAX, p->out_max_bytes);
	if (p->stdin_data.size)
		fh_wire_bytes(out, P_STDIN, p->stdin_data.data, p->stdin_data.size);
	fh_wire_text(out, P_LANGUAGE, p->language);
	fh_wire_text(out, P_INTERPRETER, p->interpreter);
	fh_wire_text(out, P_CODE_NAME, p->code_name);
	for (size_t i = 0; i < p->descriptor_count; i++) {
		size_t mark = fh_wire_begin(out, P_DESCRIPTOR);
		fh_wire_u64(out, D_NUMBER, (uint64_t)p->descriptors[i].number);
		fh_wire_u64(out, D_KIND, p->descriptors[i].kind);
		fh_wire_end(out, mark);
	}
	if (p->start != FH_START_AUTO)
		fh_wire_u64(out, P_START, p->start);
	if (p->zygote.main_file)
		encode_zygote(out, &p->zygote);
}

static struct fh_bytes_owned get_bytes(struct fh_str bytes)
{
	return (struct fh_bytes_owned){ fh_xmemdup(bytes.n ? bytes.p : "", bytes.n), bytes.n };
}

static void get_text(struct fh_wire_reader *r, const struct fh_wire_field *f, char **to)
{
	free(*to);
	*to = fh_wire_get_text(r, f);
}

static bool decode_mount(struct fh_plan *p, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	if (p->mount_count == FH_PLAN_MOUNTS_MAX)
		return false;
	struct fh_plan_mount *m = fh_plan_add_mount(p, FH_MOUNT_KIND_COUNT_, "", NULL);
	while (fh_wire_next(&r, &f)) {
		switch ((enum mount_tag)f.tag) {
		case M_KIND: {
			uint64_t v = fh_wire_get_u64(&r, &f);
			m->kind = v < FH_MOUNT_KIND_COUNT_ ? (enum fh_mount_kind)v : FH_MOUNT_KIND_COUNT_;
			break;
		}
		case M_TARGET:
			get_text(&r, &f, &m->target);
			break;
		case M_SOURCE:
			get_text(&r, &f, &m->source);
			break;
		case M_CONTENT:
			free(m->content.data);
			m->content = get_bytes(f.value);
			break;
		case M_MODE:
			m->mode = (uint32_t)fh_wire_get_u64(&r, &f);
			break;
		case M_WRITABLE:
			m->writable = fh_wire_get_u64(&r, &f) != 0;
			break;
		case M_OPTIONAL:
			m->optional = fh_wire_get_u64(&r, &f) != 0;
			break;
		}
	}
	/* An unknown kind of a newer client must not be skipped, because the sandbox would differ from what was
	 * requested. */
	return !r.malformed && m->kind != FH_MOUNT_KIND_COUNT_;
}

static bool decode_file(struct fh_plan *p, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	if (p->file_count == FH_PLAN_FILES_MAX)
		return false;
	struct fh_plan_file *file = fh_plan_add_file(p, "", "", 0, 0);
	while (fh_wire_next(&r, &f)) {
		if (f.tag == T_NAME) {
			get_text(&r, &f, &file->name);
		} else if (f.tag == T_CONTENT) {
			free(file->content.data);
			file->content = get_bytes(f.value);
		} else if (f.tag == T_MODE) {
			file->mode = (uint32_t)fh_wire_get_u64(&r, &f);
		}
	}
	return !r.malformed;
}

static bool decode_stdin(struct fh_plan *p, struct fh_str bytes)
{
	free(p->stdin_data.data);
	p->stdin_data = get_bytes(bytes);
	return true;
}

static bool decode_limit(struct fh_plan *p, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	uint64_t index = FH_LIMIT_COUNT_, value = FH_UNLIMITED;
	while (fh_wire_next(&r, &f)) {
		if (f.tag == L_INDEX)
			index = fh_wire_get_u64(&r, &f);
		else if (f.tag == L_VALUE)
			value = fh_wire_get_u64(&r, &f);
	}
	if (r.malformed || index >= FH_LIMIT_COUNT_)
		return false; /* an unknown limit cannot be enforced, so the plan is refused */
	p->limits.value[index] = value;
	return true;
}

static bool decode_descriptor(struct fh_plan *p, struct fh_str message)
{
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	uint64_t number = 0, kind = FH_DESCRIPTOR_KIND_COUNT_;
	while (fh_wire_next(&r, &f)) {
		if (f.tag == D_NUMBER)
			number = fh_wire_get_u64(&r, &f);
		else if (f.tag == D_KIND)
			kind = fh_wire_get_u64(&r, &f);
	}
	if (r.malformed || number >= 1024 || kind >= FH_DESCRIPTOR_KIND_COUNT_ || p->descriptor_count == FH_DESCRIPTORS_MAX)
		return false;
	p->descriptors[p->descriptor_count++] = (struct fh_descriptor){ (int)number, (enum fh_descriptor_kind)kind };
	return true;
}

/* A vector that doubles, since a peer may send lists of any length up to the bound. */
struct list {
	char **items;
	size_t count, capacity;
};

static bool add_text(struct list *l, struct fh_wire_reader *r, const struct fh_wire_field *f)
{
	if (l->count >= FH_PLAN_STRINGS_MAX)
		return false;
	char *text = fh_wire_get_text(r, f);
	FH_PUSH(l->items, l->count, l->capacity) = text;
	return true;
}

static void list_move(struct list *l, char ***to)
{
	FH_PUSH(l->items, l->count, l->capacity) = NULL;
	for (size_t i = 0; (*to)[i]; i++)
		free((*to)[i]);
	free(*to);
	*to = l->items;
}

/* The plan's lists of texts, each text a field of its own. */
enum { ARGV, ENV, OUTS, LIST_COUNT_ };
static const enum plan_tag list_tags[LIST_COUNT_] = { [ARGV] = P_ARGV, [ENV] = P_ENV, [OUTS] = P_OUT };

static bool decode_zygote(struct fh_plan *p, struct fh_str message)
{
	struct list options = { 0 }, env = { 0 }, preload = { 0 }, identities = { 0 };
	struct fh_wire_reader r = fh_wire_reader(message);
	struct fh_wire_field f;
	bool ok = true;
	while (ok && fh_wire_next(&r, &f)) {
		if (f.tag == Z_MAIN_FILE)
			p->zygote.main_file = (uint32_t)FH_MIN(fh_wire_get_u64(&r, &f), (uint64_t)UINT32_MAX);
		else if (f.tag == Z_OPTION)
			ok = add_text(&options, &r, &f);
		else if (f.tag == Z_ENV)
			ok = add_text(&env, &r, &f);
		else if (f.tag == Z_PRELOAD)
			ok = add_text(&preload, &r, &f);
		else if (f.tag == Z_PRELOAD_IDENTITY)
			ok = add_text(&identities, &r, &f);
	}
	list_move(&options, &p->zygote.options);
	list_move(&env, &p->zygote.env);
	list_move(&preload, &p->zygote.preload);
	list_move(&identities, &p->zygote.preload_identity);
	return ok && !r.malformed;
}

/* The plan's fields of one value. */
static const struct plain_field {
	enum plan_tag tag;
	enum shape { TEXT, U32, U64, FLAG } shape;
	size_t at;
} plain_fields[] = {
	{ P_IMAGE, TEXT, offsetof(struct fh_plan, image) },
	{ P_IMAGE_IDENTITY, TEXT, offsetof(struct fh_plan, image_identity) },
	{ P_UID, U32, offsetof(struct fh_plan, uid) },
	{ P_GID, U32, offsetof(struct fh_plan, gid) },
	{ P_HOSTNAME, TEXT, offsetof(struct fh_plan, hostname) },
	{ P_LAYERS, U32, offsetof(struct fh_plan, layers) },
	{ P_ROOT_CAPABILITIES, FLAG, offsetof(struct fh_plan, root_capabilities) },
	{ P_REQUIRE, U32, offsetof(struct fh_plan, require) },
	{ P_CWD, TEXT, offsetof(struct fh_plan, cwd) },
	{ P_OUT_MAX, U64, offsetof(struct fh_plan, out_max_bytes) },
	{ P_LANGUAGE, TEXT, offsetof(struct fh_plan, language) },
	{ P_INTERPRETER, TEXT, offsetof(struct fh_plan, interpreter) },
	{ P_CODE_NAME, TEXT, offsetof(struct fh_plan, code_name) },
};

/* The fields that are messages of their own, and those that may occur several times. */
static const struct part {
	enum plan_tag tag;
	bool (*decode)(struct fh_plan *p, struct fh_str message);
} parts[] = {
	{ P_MOUNT, decode_mount }, { P_LIMIT, decode_limit },           { P_FILE, decode_file },
	{ P_STDIN, decode_stdin }, { P_DESCRIPTOR, decode_descriptor }, { P_ZYGOTE, decode_zygote },
};

static void set_plain(struct fh_plan *p, const struct plain_field *d, struct fh_wire_reader *r,
                      const struct fh_wire_field *f)
{
	void *to = (char *)p + d->at;
	if (d->shape == TEXT)
		get_text(r, f, to);
	else if (d->shape == U32)
		*(uint32_t *)to = (uint32_t)fh_wire_get_u64(r, f);
	else if (d->shape == U64)
		*(uint64_t *)to = fh_wire_get_u64(r, f);
	else
		*(bool *)to = fh_wire_get_u64(r, f) != 0;
}

/* Decodes one field; one that this version does not know is skipped. False: the plan cannot be as it was meant. */
static bool decode_field(struct fh_plan *p, struct list lists[LIST_COUNT_], struct fh_wire_reader *r,
                         const struct fh_wire_field *f)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(plain_fields); i++)
		if (plain_fields[i].tag == f->tag)
			set_plain(p, &plain_fields[i], r, f);
	for (size_t i = 0; i < FH_ARRAY_SIZE(parts); i++)
		if (parts[i].tag == f->tag)
			return parts[i].decode(p, f->value);
	for (size_t i = 0; i < LIST_COUNT_; i++)
		if (list_tags[i] == f->tag)
			return add_text(&lists[i], r, f);
	if (f->tag == P_START)
		p->start = (enum fh_start)FH_MIN(fh_wire_get_u64(r, f), (uint64_t)FH_START_COUNT_);
	return true;
}

int fh_plan_decode(struct fh_str bytes, struct fh_plan **ret, struct fh_error *err)
{
	struct fh_plan *p = fh_plan_new();
	struct list lists[LIST_COUNT_] = { 0 };
	struct fh_wire_reader r = fh_wire_reader(bytes);
	struct fh_wire_field f;
	bool ok = true;
	while (ok && fh_wire_next(&r, &f))
		ok = decode_field(p, lists, &r, &f);
	list_move(&lists[ARGV], &p->argv);
	list_move(&lists[ENV], &p->env);
	list_move(&lists[OUTS], &p->outs);
	int status = ok && !r.malformed ? fh_plan_check(p, err)
	                                : fh_error_set(err, FH_E_PROTOCOL,
	                                               "the plan is malformed, larger than allowed, or asks for a mount, "
	                                               "limit or descriptor that this version does not know");
	if (status) {
		fh_plan_free(p);
		return status;
	}
	*ret = p;
	return 0;
}
