/* SPDX-License-Identifier: MIT */
#include "proto/plan.h"

#include <errno.h>

#include "base/error.h"
#include "base/path.h"

const char *const fh_mount_kind_names[FH_MOUNT_KIND_COUNT_] = {
	"bind", "symlink", "file", "dir", "writable", "mask", "proc", "dev", "volume",
};

#define FILE_MODES 01777u /* no set-ID bits: nothing may run as its owner */

static char **empty_list(void)
{
	return fh_xcalloc(1, sizeof(char *));
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void fh_plan_set_text(char **text, const char *value)
{
	char *copy = fh_xstrdup(value);
	free(*text);
	*text = copy;
}

void fh_plan_set_strings(char ***list, const char *const *items)
{
	size_t n = 0;
	while (items && items[n])
		n++;
	char **copy = fh_xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		copy[i] = fh_xstrdup(items[i]);
	free_list(*list);
	*list = copy;
}

void fh_plan_add_string(char ***list, const char *item)
{
	size_t n = 0;
	while ((*list)[n])
		n++;
	*list = fh_xrealloc(*list, n + 2, sizeof(char *));
	(*list)[n] = fh_xstrdup(item);
	(*list)[n + 1] = NULL;
}

void fh_limits_bound_disk(struct fh_limits *l)
{
	uint64_t memory = l->value[FH_LIMIT_MEMORY], files = memory == FH_UNLIMITED ? memory : memory - memory / 4;
	l->value[FH_LIMIT_DISK] = FH_MIN(l->value[FH_LIMIT_DISK], files);
}

struct fh_plan *fh_plan_new(void)
{
	struct fh_plan *p = FH_NEW(struct fh_plan);
	p->uid = p->gid = 1000;
	p->hostname = fh_xstrdup("sandbox");
	p->layers = (1u << FH_LAYER_COUNT_) - 1;
	for (int i = 0; i < FH_LIMIT_COUNT_; i++)
		p->limits.value[i] = FH_UNLIMITED;
	p->argv = empty_list();
	p->env = empty_list();
	p->outs = empty_list();
	p->cwd = fh_xstrdup("/");
	p->out_max_bytes = 64 << 20;
	p->language = fh_xstrdup("");
	p->interpreter = fh_xstrdup("");
	p->code_name = fh_xstrdup("");
	p->zygote = (struct fh_plan_zygote){ 0, empty_list(), empty_list(), empty_list(), empty_list() };
	return p;
}

static void release_mount(struct fh_plan_mount *m)
{
	free(m->target);
	free(m->source);
	free(m->content.data);
}

void fh_plan_free(struct fh_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->mount_count; i++)
		release_mount(&p->mounts[i]);
	for (size_t i = 0; i < p->file_count; i++) {
		free(p->files[i].name);
		free(p->files[i].content.data);
	}
	free(p->mounts);
	free(p->files);
	free(p->image);
	free(p->image_identity);
	free(p->hostname);
	free_list(p->argv);
	free_list(p->env);
	free_list(p->outs);
	free_list(p->zygote.options);
	free_list(p->zygote.env);
	free_list(p->zygote.preload);
	free_list(p->zygote.preload_identity);
	free(p->cwd);
	free(p->stdin_data.data);
	free(p->language);
	free(p->interpreter);
	free(p->code_name);
	free(p->artifact);
	fh_plan_free(p->compile);
	free(p);
}

struct fh_plan_mount *fh_plan_add_mount(struct fh_plan *p, enum fh_mount_kind kind, const char *target,
                                        const char *source)
{
	p->mounts = fh_xrealloc(p->mounts, p->mount_count + 1, sizeof(*p->mounts));
	struct fh_plan_mount *m = &p->mounts[p->mount_count++];
	*m = (struct fh_plan_mount){ .kind = kind, .target = fh_xstrdup(target) };
	if (source)
		m->source = fh_xstrdup(source);
	return m;
}

void fh_plan_drop_mounts(struct fh_plan *p, enum fh_mount_kind kind)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].kind == kind)
			release_mount(&p->mounts[i]);
		else
			p->mounts[kept++] = p->mounts[i];
	p->mount_count = kept;
}

struct fh_plan_file *fh_plan_add_file(struct fh_plan *p, const char *name, const void *data, size_t size, uint32_t mode)
{
	p->files = fh_xrealloc(p->files, p->file_count + 1, sizeof(*p->files));
	struct fh_plan_file *f = &p->files[p->file_count++];
	*f = (struct fh_plan_file){ .name = fh_xstrdup(name), .mode = mode };
	f->content.data = fh_xmemdup(data, size);
	f->content.size = size;
	return f;
}

static char *copy_text(const char *s)
{
	return s ? fh_xstrdup(s) : NULL;
}

static struct fh_bytes_owned copy_bytes(const struct fh_bytes_owned *b)
{
	return (struct fh_bytes_owned){ b->data ? fh_xmemdup(b->data, b->size) : NULL, b->size };
}

void fh_plan_copy_mounts(struct fh_plan *to, const struct fh_plan *from)
{
	for (size_t i = 0; i < from->mount_count; i++) {
		const struct fh_plan_mount *m = &from->mounts[i];
		struct fh_plan_mount *n = fh_plan_add_mount(to, m->kind, m->target, m->source);
		n->content = copy_bytes(&m->content);
		n->mode = m->mode;
		n->writable = m->writable;
		n->optional = m->optional;
	}
}

struct fh_plan *fh_plan_copy(const struct fh_plan *p)
{
	struct fh_plan *c = fh_plan_new();
	c->image = copy_text(p->image);
	c->image_identity = copy_text(p->image_identity);
	fh_plan_copy_mounts(c, p);
	for (size_t i = 0; i < p->file_count; i++)
		fh_plan_add_file(c, p->files[i].name, p->files[i].content.data, p->files[i].content.size, p->files[i].mode);
	c->uid = p->uid;
	c->gid = p->gid;
	c->layers = p->layers;
	c->root_capabilities = p->root_capabilities;
	c->require = p->require;
	c->limits = p->limits;
	c->start = p->start;
	c->zygote.main_file = p->zygote.main_file;
	fh_plan_set_strings(&c->zygote.options, (const char *const *)p->zygote.options);
	fh_plan_set_strings(&c->zygote.env, (const char *const *)p->zygote.env);
	fh_plan_set_strings(&c->zygote.preload, (const char *const *)p->zygote.preload);
	fh_plan_set_strings(&c->zygote.preload_identity, (const char *const *)p->zygote.preload_identity);
	c->out_max_bytes = p->out_max_bytes;
	fh_plan_set_strings(&c->argv, (const char *const *)p->argv);
	fh_plan_set_strings(&c->env, (const char *const *)p->env);
	fh_plan_set_strings(&c->outs, (const char *const *)p->outs);
	fh_plan_set_text(&c->hostname, p->hostname);
	fh_plan_set_text(&c->cwd, p->cwd);
	fh_plan_set_text(&c->language, p->language);
	fh_plan_set_text(&c->interpreter, p->interpreter);
	fh_plan_set_text(&c->code_name, p->code_name);
	c->stdin_data = copy_bytes(&p->stdin_data);
	memcpy(c->descriptors, p->descriptors, sizeof(c->descriptors));
	c->descriptor_count = p->descriptor_count;
	c->compile = p->compile ? fh_plan_copy(p->compile) : NULL;
	c->artifact = copy_text(p->artifact);
	return c;
}

/* ----------------------------------------------------------------------------------------------------------- check */

static bool is_clean_absolute(const char *path)
{
	if (path[0] != '/' || strlen(path) >= FH_PLAN_PATH_MAX)
		return false;
	fh_auto_free char *clean = fh_path_clean(path);
	return strcmp(clean, path) == 0;
}

/* Whether a relative name stays within its folder. */
static bool is_safe_name(const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n >= FH_PLAN_PATH_MAX || name[n - 1] == '/')
		return false;
	for (const char *p = name; *p;) {
		size_t part = strcspn(p, "/");
		if ((part == 0 && p != name) || (part == 1 && p[0] == '.') || (part == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += part + (p[part] == '/');
	}
	return true;
}

static size_t list_bytes(char *const *list, size_t *count)
{
	size_t bytes = 0, n = 0;
	for (; list[n]; n++)
		bytes += strlen(list[n]) + 1 + sizeof(char *);
	*count += n;
	return bytes;
}

bool fh_plan_root_is_writable(const struct fh_plan *p)
{
	return p->mount_count > 0 && p->mounts[0].kind == FH_MOUNT_WRITABLE && fh_streq(p->mounts[0].target, "/");
}

static int check_mounts(const struct fh_plan *p, struct fh_error *err)
{
	if (p->mount_count > FH_PLAN_MOUNTS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "%zu mounts; at most %d are allowed", p->mount_count,
		                    FH_PLAN_MOUNTS_MAX);
	size_t devices = 0;
	for (size_t i = 0; i < p->mount_count; i++) {
		const struct fh_plan_mount *m = &p->mounts[i];
		devices += m->kind == FH_MOUNT_DEV;
		if (devices > 1)
			return fh_error_set(err, FH_E_ARGUMENT, "a plan has at most one mount of kind dev");
		bool is_root = fh_streq(m->target, "/");
		if (is_root && i == 0 && m->kind == FH_MOUNT_WRITABLE)
			continue;
		if (!is_clean_absolute(m->target) || is_root)
			return fh_error_set(err, FH_E_ARGUMENT, "mount target %s is not a clean absolute path below /", m->target);
		bool is_shown = m->kind == FH_MOUNT_BIND || m->kind == FH_MOUNT_VOLUME;
		if ((is_shown || m->kind == FH_MOUNT_SYMLINK) && (!m->source || !m->source[0]))
			return fh_error_set(err, FH_E_ARGUMENT, "mount %s has no source", m->target);
		if (is_shown && !is_clean_absolute(m->source))
			return fh_error_set(err, FH_E_ARGUMENT, "mount source %s is not a clean absolute path", m->source);
		if (m->mode & ~FILE_MODES)
			return fh_error_set(err, FH_E_ARGUMENT, "mount %s: mode %o is not a file mode, or sets an id", m->target,
			                    m->mode);
	}
	return 0;
}

static int check_descriptors(const struct fh_plan *p, struct fh_error *err)
{
	uint32_t numbers = 0, drivers = 0;
	if (p->descriptor_count > FH_DESCRIPTORS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "%zu descriptors; at most %d are allowed", p->descriptor_count,
		                    FH_DESCRIPTORS_MAX);
	for (size_t i = 0; i < p->descriptor_count; i++) {
		const struct fh_descriptor *d = &p->descriptors[i];
		if (d->number < FH_DESCRIPTOR_FIRST || d->number >= FH_DESCRIPTOR_FIRST + FH_DESCRIPTORS_MAX)
			return fh_error_set(err, FH_E_ARGUMENT, "descriptor %d is not one of %d to %d", d->number,
			                    FH_DESCRIPTOR_FIRST, FH_DESCRIPTOR_FIRST + FH_DESCRIPTORS_MAX - 1);
		if (numbers & 1u << d->number)
			return fh_error_set(err, FH_E_ARGUMENT, "descriptor %d is in the plan twice", d->number);
		if (d->kind < 0 || d->kind >= FH_DESCRIPTOR_KIND_COUNT_)
			return fh_error_set(err, FH_E_ARGUMENT, "descriptor %d is of a kind that this version does not know",
			                    d->number);
		numbers |= 1u << d->number;
		drivers += d->kind == FH_DESCRIPTOR_DRIVER;
	}
	if (drivers > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "a plan has at most one descriptor of kind driver");
	return 0;
}

/* Whether a name can be part of the comma-separated list of modules. The interpreter interprets the name. */
static bool is_module(const char *name)
{
	size_t n = strlen(name);
	return n > 0 && n < 200 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/@:") == n;
}

enum { IDENTITY_MAX = 128 };

static int check_identities(const struct fh_plan *p, struct fh_error *err)
{
	size_t modules = 0, n = 0;
	while (p->zygote.preload[modules])
		modules++;
	for (; p->zygote.preload_identity[n]; n++)
		if (n >= modules || strlen(p->zygote.preload_identity[n]) > IDENTITY_MAX)
			return fh_error_set(err, FH_E_ARGUMENT, "preload: identity %zu is too long, or one too many", n);
	if (n > 0 && n < modules)
		return fh_error_set(err, FH_E_ARGUMENT, "preload: %zu identities for %zu modules", n, modules);
	if (p->image_identity && strlen(p->image_identity) > IDENTITY_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "the image's identity is longer than %d bytes", IDENTITY_MAX);
	return 0;
}

static int check_zygote(const struct fh_plan *p, struct fh_error *err)
{
	size_t strings = 0, count = 0;
	if (p->start >= FH_START_COUNT_)
		return fh_error_set(err, FH_E_ARGUMENT, "the plan asks for a start that this version does not know");
	if (list_bytes(p->zygote.options, &strings) + list_bytes(p->zygote.env, &strings) > FH_PLAN_ARGV_BYTES_MAX / 4)
		return fh_error_set(err, FH_E_LIMIT, "options and variables of the zygote are too large");
	for (; p->argv[count]; count++)
		;
	if (p->zygote.main_file && p->zygote.main_file >= count)
		return fh_error_set(err, FH_E_ARGUMENT, "the main file is argument %u of %zu", p->zygote.main_file, count);
	for (size_t i = 0; p->zygote.preload[i]; i++)
		if (i >= FH_PLAN_PRELOAD_MAX || !is_module(p->zygote.preload[i]))
			return fh_error_set(err, FH_E_ARGUMENT, "preload: %.200s is not a name of a module, or one too many",
			                    p->zygote.preload[i]);
	return check_identities(p, err);
}

int fh_plan_check(const struct fh_plan *p, struct fh_error *err)
{
	int r = check_mounts(p, err);
	if (r == 0)
		r = check_descriptors(p, err);
	if (r)
		return r;
	if (p->image && !is_clean_absolute(p->image))
		return fh_error_set(err, FH_E_ARGUMENT, "image %s is not a clean absolute path", p->image);
	size_t strings = 0;
	if (list_bytes(p->argv, &strings) + list_bytes(p->env, &strings) > FH_PLAN_ARGV_BYTES_MAX)
		return fh_error_set(err, FH_E_LIMIT, "arguments and environment are larger than %d bytes",
		                    FH_PLAN_ARGV_BYTES_MAX);
	if (strings > FH_PLAN_STRINGS_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%zu arguments and variables; at most %d are allowed", strings,
		                    FH_PLAN_STRINGS_MAX);
	r = check_zygote(p, err);
	if (r)
		return r;
	if (!is_clean_absolute(p->cwd))
		return fh_error_set(err, FH_E_ARGUMENT, "working directory %s is not a clean absolute path", p->cwd);
	if (p->file_count > FH_PLAN_FILES_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%zu files; at most %d are allowed", p->file_count, FH_PLAN_FILES_MAX);
	for (size_t i = 0; i < p->file_count; i++)
		if (!is_safe_name(p->files[i].name))
			return fh_error_set(err, FH_E_ARGUMENT, "%s is not a file name that stays inside the sandbox",
			                    p->files[i].name);
	for (size_t i = 0; i < p->file_count; i++)
		if (p->files[i].mode & ~FILE_MODES)
			return fh_error_set(err, FH_E_ARGUMENT, "file %s: mode %o is not a file mode, or sets an id",
			                    p->files[i].name, p->files[i].mode);
	for (size_t i = 0; p->outs[i]; i++) {
		if (i >= FH_PLAN_FILES_MAX)
			return fh_error_set(err, FH_E_LIMIT, "at most %d files can be brought back", FH_PLAN_FILES_MAX);
		if (!is_safe_name(p->outs[i]))
			return fh_error_set(err, FH_E_ARGUMENT, "%s is not a file name that stays inside the sandbox", p->outs[i]);
	}
	if ((p->uid != 0 && p->uid != 1000) || p->gid != p->uid)
		return fh_error_set(err, FH_E_ARGUMENT, "uid %u is neither 1000 (user) nor 0 (root)", p->uid);
	if (!p->hostname[0] || strlen(p->hostname) > 63)
		return fh_error_set(err, FH_E_ARGUMENT, "a hostname has 1 to 63 characters");
	uint32_t known = (1u << FH_LAYER_COUNT_) - 1;
	if ((p->layers | p->require) & ~known)
		return fh_error_set(err, FH_E_ARGUMENT, "the plan names a layer that this version does not know");
	uint32_t always = 1u << FH_LAYER_USER | 1u << FH_LAYER_PID | 1u << FH_LAYER_MOUNT;
	if ((p->layers & always) != always)
		return fh_error_set(err, FH_E_ARGUMENT, "the layers user, pid and mount cannot be switched off");
	return 0;
}
