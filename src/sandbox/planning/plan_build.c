/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/plan_build.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/path.h"
#include "base/host/place.h"
#include "sandbox/planning/compile_cache.h"
#include "sandbox/planning/identity.h"
#include "sandbox/planning/interpreter.h"
#include "sandbox/planning/language.h"
#include "sandbox/planning/layout.h"
#include "survey/survey_host.h"

void fh_request_init(struct fh_request *r)
{
	*r = (struct fh_request){ .size = sizeof(*r) };
	fh_limits_init(&r->limits);
}

/* Copies the part of the request that its caller's version knows; later fields are zero. */
static int known_part(const struct fh_request *given, struct fh_request *ret, struct fh_error *err)
{
	if (given->size < offsetof(struct fh_request, code) || given->size > 4096)
		return fh_error_set(err, FH_E_ARGUMENT, "the request was not initialised with fh_request_init");
	*ret = (struct fh_request){ 0 };
	memcpy(ret, given, FH_MIN(given->size, sizeof(*ret)));
	return 0;
}

/* ----------------------------------------------------------------------------------------- the sandbox's own part */

static int set_user(struct fh_plan *plan, const char *user, struct fh_error *err)
{
	if (!user || fh_streq(user, "user"))
		return 0;
	if (!fh_streq(user, "root")) {
		int r = fh_error_set(err, FH_E_ARGUMENT, "unknown user %s", user);
		fh_error_hint(err, "a sandbox has two users: user (uid 1000) and root (uid 0 of its own user namespace)");
		return r;
	}
	plan->uid = plan->gid = 0;
	return 0;
}

static int set_hostname(struct fh_plan *plan, const char *name, struct fh_error *err)
{
	if (!name)
		return 0;
	size_t n = strlen(name);
	if (n == 0 || n > 63 || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != n)
		return fh_error_set(err, FH_E_ARGUMENT, "%s is not a hostname: 1 to 63 letters, digits, - and .", name);
	fh_plan_set_text(&plan->hostname, name);
	return 0;
}

static int set_root(struct fh_plan *plan, struct fh_survey *s, const char *image, bool writable, struct fh_error *err)
{
	if (writable)
		fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/", NULL)->mode = 0755;
	if (!image) {
		fh_layout_host(plan, s);
		return 0;
	}
	struct fh_survey_facts facts;
	plan->image = fh_survey_place(s, image);
	int error = !plan->image || !fh_survey_facts(s, "", plan->image, &facts) ? errno
	            : S_ISDIR(facts.mode)                                        ? 0
	                                                                         : ENOTDIR;
	if (error) {
		int r = fh_error_sys(err, error, "cannot use %s as image", image);
		fh_error_hint(err, "an image is a folder that holds a root file system (bin, lib, usr, …)");
		fh_place_hint(error, err);
		return r;
	}
	if (fh_streq(plan->image, "/"))
		return fh_error_set(err, FH_E_ARGUMENT, "the host's own root cannot be an image");
	return fh_layout_image(plan, s, err);
}

static void mount_tool(struct fh_plan *plan, const struct fh_tool *tool)
{
	for (size_t i = 0; i < tool->mount_count; i++) {
		const struct fh_tool_mount *m = &tool->mounts[i];
		if (m->link)
			fh_plan_add_mount(plan, FH_MOUNT_SYMLINK, m->target, m->link);
		else
			fh_plan_add_mount(plan, FH_MOUNT_BIND, m->target, m->target);
	}
}

/* Keeps sandboxes from reading or changing compiled programs: if a mount would show the cache, the cache is masked. The
 * templates of packages, which are beside the compiled programs, are shown read-only: all sessions with the same
 * packages share them. */
static int hide_cache(struct fh_plan *plan, struct fh_survey *s, const char *source, const char *target, bool writable,
                      struct fh_error *err)
{
	fh_auto_free char *compiled = fh_survey_cache(s, "compile");
	/* the parent, because prepared files are beside it */
	fh_auto_free char *asked = compiled ? fh_path_dir(compiled) : NULL;
	fh_auto_free char *cache = asked ? fh_survey_real(s, asked) : NULL;
	if (!cache)
		return 0;
	fh_auto_free char *packages = fh_path_join(cache, "packages");
	if (!writable && fh_path_within(source, packages))
		return 0;
	if (fh_path_within(source, cache))
		return fh_error_set(err, FH_E_ARGUMENT, "%s cannot be mounted: it is in the cache of compiled programs",
		                    source);
	if (fh_path_within(cache, source)) {
		size_t n = fh_streq(source, "/") ? 0 : strlen(source);
		fh_auto_free char *inside = fh_xasprintf("%s%s", target, cache + n);
		fh_plan_add_mount(plan, FH_MOUNT_MASK, inside, NULL)->optional = true;
	}
	return 0;
}

static int mount_asked(struct fh_plan *plan, struct fh_survey *s, const struct fh_request *r, struct fh_error *err)
{
	for (size_t i = 0; i < r->mount_count; i++) {
		const struct fh_mount *m = &r->mounts[i];
		fh_auto_free char *source = fh_survey_place(s, m->source);
		if (!source) {
			int error = errno, code = fh_error_sys(err, error, "cannot mount %s", m->source);
			fh_place_hint(error, err);
			return code;
		}
		const char *asked = m->target ? m->target : m->source;
		if (m->target && m->target[0] != '/')
			return fh_error_set(err, FH_E_ARGUMENT, "mount target %s is not an absolute path", m->target);
		fh_auto_free char *target = asked[0] == '/' ? fh_path_clean(asked) : fh_xstrdup(source);
		if (fh_streq(target, "/"))
			return fh_error_set(err, FH_E_ARGUMENT, "nothing can be mounted over /");
		fh_plan_add_mount(plan, FH_MOUNT_BIND, target, source)->writable = m->writable;
		int code = hide_cache(plan, s, source, target, m->writable, err);
		if (code < 0)
			return code;
	}
	return 0;
}

/* Sets the working directory; it is made if nothing else makes it. */
static int set_cwd(struct fh_plan *plan, const char *asked, struct fh_error *err)
{
	if (asked && asked[0] != '/')
		return fh_error_set(err, FH_E_ARGUMENT, "working directory %s is not an absolute path", asked);
	fh_auto_free char *cwd = fh_path_clean(asked ? asked : "/home/user");
	fh_plan_set_text(&plan->cwd, cwd);
	if (plan->image || fh_streq(cwd, "/"))
		return 0;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (!fh_streq(plan->mounts[i].target, "/") && fh_path_within(cwd, plan->mounts[i].target))
			return 0;
	fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, cwd, NULL);
	return 0;
}

/* ----------------------------------------------------------------------------------------------- the request part */

static int set_limits(struct fh_plan *plan, const struct fh_limits *limits, struct fh_error *err)
{
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		const struct fh_limit_info *info = &fh_limit_table[i];
		if (limits->value[i] < info->minimum)
			return fh_error_set(err, FH_E_ARGUMENT, "%s of %llu %s is too little: at least %llu", info->name,
			                    (unsigned long long)limits->value[i], info->unit, (unsigned long long)info->minimum);
	}
	plan->limits = *limits;
	return 0;
}

/* Adds NAME=value; replaces an earlier entry with the same name. */
static void set_variable(struct fh_plan *plan, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1;
	for (size_t i = 0; plan->env[i]; i++)
		if (strncmp(plan->env[i], entry, n) == 0) {
			fh_plan_set_text(&plan->env[i], entry);
			return;
		}
	fh_plan_add_string(&plan->env, entry);
}

/* Passes the request's hash secret in the way that the language's data file defines. Since the variable comes from the
 * data file, a zygote may start with it. */
static void set_hash_secret(struct fh_plan *plan, const struct fh_request *r, const struct fh_language *l)
{
	static const char word[] = "{secret}";
	for (size_t i = 0; r->hash_secret && l->hash_secret_env[i]; i++) {
		fh_auto_buf struct fh_buf variable = FH_BUF_INIT(0);
		const char *entry = l->hash_secret_env[i];
		for (const char *at; (at = strstr(entry, word)); entry = at + strlen(word)) {
			fh_buf_add(&variable, entry, (size_t)(at - entry));
			fh_buf_addf(&variable, "%u", r->hash_secret);
		}
		fh_buf_adds(&variable, entry);
		set_variable(plan, fh_buf_cstr(&variable));
	}
	if (r->hash_secret > 1 && l->has_hash_secret && !l->hash_secret_env[0] && plan->start == FH_START_AUTO)
		plan->start = FH_START_FRESH; /* all programs of a zygote share its secret */
}

static int set_env(struct fh_plan *plan, const struct fh_request *r, const struct fh_language *l,
                   const struct fh_tool *tool, struct fh_error *err)
{
	fh_auto_buf struct fh_buf path = FH_BUF_INIT(FH_PLAN_PATH_MAX);
	fh_buf_adds(&path, "PATH=");
	for (size_t i = 0; tool && tool->path_dirs[i]; i++)
		fh_buf_addf(&path, "%s:", tool->path_dirs[i]);
	fh_buf_adds(&path, FH_STANDARD_PATH);
	if (path.overflowed)
		return fh_error_set(err, FH_E_LIMIT, "the interpreter's path is too long");
	fh_auto_free char *home = fh_xasprintf("HOME=%s", fh_layout_home(plan));
	const char *const fixed[] = { fh_buf_cstr(&path), home, plan->uid ? "USER=user" : "USER=root", "LANG=C.UTF-8",
		                          NULL };
	fh_plan_set_strings(&plan->env, fixed);
	for (size_t i = 0; l && l->env[i]; i++)
		set_variable(plan, l->env[i]);
	for (size_t i = 0; tool && tool->env[i]; i++)
		set_variable(plan, tool->env[i]);
	if (l)
		set_hash_secret(plan, r, l);
	for (size_t i = 0; r->env && r->env[i]; i++) {
		if (r->env[i][0] == '=' || !strchr(r->env[i], '='))
			return fh_error_set(err, FH_E_ARGUMENT, "environment: %s is not NAME=value", r->env[i]);
		set_variable(plan, r->env[i]);
	}
	return 0;
}

/* The clean form of a name, as the engine will resolve it; NULL and an error if it leads out of the sandbox's own
 * folders. */
static char *clean_name(const char *name, struct fh_error *err)
{
	fh_auto_free char *clean = fh_path_clean(name);
	size_t n = strlen(name);
	if (n == 0 || name[n - 1] == '/' || fh_streq(clean, ".") || fh_streq(clean, "/") || fh_streq(clean, "..") ||
	    fh_starts_with(clean, "../")) {
		fh_error_set(err, FH_E_ARGUMENT, "%s is not a file name that stays inside the sandbox", n ? name : "\"\"");
		return NULL;
	}
	return FH_TAKE_PTR(clean);
}

static int add_files(struct fh_plan *plan, const struct fh_request *r, struct fh_error *err)
{
	if (r->file_count > FH_PLAN_FILES_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%zu files; at most %d are allowed", r->file_count, FH_PLAN_FILES_MAX);
	for (size_t i = 0; i < r->file_count; i++) {
		const struct fh_file *f = &r->files[i];
		fh_auto_free char *name = clean_name(f->name, err);
		if (!name)
			return -FH_E_ARGUMENT;
		if (plan->code_name[0] && fh_streq(name, plan->code_name)) {
			int code = fh_error_set(err, FH_E_ARGUMENT, "a file has the program's own name, %s", name);
			fh_error_hint(err, "give it another name inside");
			return code;
		}
		fh_plan_add_file(plan, name, f->content.data ? f->content.data : "", f->content.size, f->mode);
	}
	for (size_t i = 0; i < r->out_count; i++) {
		fh_auto_free char *name = clean_name(r->outs[i], err);
		if (!name)
			return -FH_E_ARGUMENT;
		fh_plan_add_string(&plan->outs, name);
	}
	if (r->out_max_bytes)
		plan->out_max_bytes = r->out_max_bytes;
	if (r->descriptor_count > FH_DESCRIPTORS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "%zu descriptors; at most %d are allowed", r->descriptor_count,
		                    FH_DESCRIPTORS_MAX);
	for (size_t i = 0; i < r->descriptor_count; i++)
		plan->descriptors[plan->descriptor_count++] = r->descriptors[i];
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ languages */

struct words {
	const char *tool, *file, *artifact;
	const char *const *args, *const *flags;
	char *const *links;
	char **prefixes;
};

static void add_list(char ***argv, const char *const *items)
{
	for (; items && *items; items++)
		fh_plan_add_string(argv, *items);
}

/* Expands one word of argv. {args}, {flags} and {link} stand for lists and must be words of their own. */
static void expand_word(char ***argv, const char *word, const struct words *w)
{
	const struct {
		const char *name;
		const char *const *items;
	} lists[] = { { "{args}", w->args }, { "{flags}", w->flags }, { "{link}", (const char *const *)w->links } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		if (fh_streq(word, lists[i].name)) {
			add_list(argv, lists[i].items);
			return;
		}
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "{tool}", w->tool }, { "{file}", w->file }, { "{artifact}", w->artifact }, { "{prefix}", w->prefixes[0] }
	};
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_PLAN_ARGV_BYTES_MAX);
	while (*word) {
		size_t i = 0;
		while (i < FH_ARRAY_SIZE(texts) && !fh_starts_with(word, texts[i].name))
			i++;
		if (i < FH_ARRAY_SIZE(texts)) {
			fh_buf_adds(&out, texts[i].value ? texts[i].value : "");
			word += strlen(texts[i].name);
		} else {
			fh_buf_addc(&out, *word++);
		}
	}
	fh_plan_add_string(argv, fh_buf_cstr(&out));
}

static void expand(char ***argv, char *const *template, const struct words *w)
{
	fh_plan_set_strings(argv, NULL);
	for (; *template; template ++)
		expand_word(argv, *template, w);
}

static int set_program(struct fh_plan *plan, const struct fh_request *r, const struct fh_language *l,
                       struct fh_error *err)
{
	const char *name = r->code_name ? r->code_name : l->file;
	if (!name[0] || strchr(name, '/') || fh_streq(name, ".") || fh_streq(name, "..") || strlen(name) > 200)
		return fh_error_set(err, FH_E_ARGUMENT, "%s is not a name for a program's file", name[0] ? name : "\"\"");
	fh_plan_set_text(&plan->language, l->name);
	fh_plan_set_text(&plan->code_name, name);
	return 0;
}

/* Adds the compile step: a plan for the same sandbox with its own limits and the program's text. */
static void add_compile_step(struct fh_plan *plan, struct fh_survey *s, const struct fh_request *r,
                             const struct fh_language *l, const struct words *w)
{
	struct fh_plan *compile = fh_plan_copy(plan);
	compile->limits = l->compile_limits;
	fh_plan_set_strings(&compile->outs, NULL);
	fh_plan_add_string(&compile->outs, w->artifact);
	compile->out_max_bytes = l->compile_limits.value[FH_LIMIT_DISK];
	fh_plan_add_file(compile, plan->code_name, r->code.data ? r->code.data : "", r->code.size, 0);
	expand(&compile->argv, l->compile, w);
	bool has_prepared = !plan->image && fh_language_has_prepared(l, (struct fh_str){ r->code.data, r->code.size });
	fh_auto_free char *prepared = has_prepared ? fh_prepared_dir(s, l, plan->interpreter) : NULL;
	if (prepared)
		fh_plan_add_mount(compile, FH_MOUNT_BIND, FH_PREPARED_TARGET, prepared)->optional = true;
	plan->compile = compile;
	fh_plan_set_text(&plan->artifact, w->artifact);
}

/* A zygote has rights over its template. So it never starts with variables of the request, which could change how the
 * interpreter starts or what that loads. */
static void set_zygote(struct fh_plan *plan, const struct fh_request *r, const struct fh_language *l,
                       const struct words *w)
{
	size_t position = 0;
	while (plan->argv[position] && !fh_streq(plan->argv[position], w->file))
		position++;
	if (!l->zygote || !plan->argv[position] || (r->env && r->env[0]))
		return;
	plan->zygote.main_file = (uint32_t)position;
	fh_plan_set_strings(&plan->zygote.options, (const char *const *)l->zygote_options);
	fh_plan_set_strings(&plan->zygote.env, (const char *const *)l->zygote_env);
	fh_plan_set_strings(&plan->zygote.preload, r->preload);
}

static void set_steps(struct fh_plan *plan, struct fh_survey *s, const struct fh_request *r,
                      const struct fh_language *l, const struct fh_tool *tool)
{
	char **links = fh_xcalloc(1, sizeof(char *));
	struct fh_str code = { r->code.data, r->code.size };
	fh_language_link_flags(l, code, &links);
	/* A source with the artifact's name would be overwritten by it. */
	fh_auto_free char *artifact =
	    fh_xasprintf("%s%s", l->artifact ? l->artifact : "", fh_streq(l->artifact, plan->code_name) ? ".out" : "");
	/* A name such as -x.py must not be taken for an option. */
	fh_auto_free char *file = fh_xasprintf("%s%s", plan->code_name[0] == '-' ? "./" : "", plan->code_name);
	struct words w = { .tool = tool->inside,
		               .file = file,
		               .artifact = artifact,
		               .args = r->args,
		               .flags = r->flags,
		               .links = links,
		               .prefixes = tool->prefixes };
	if (l->compile[0])
		add_compile_step(plan, s, r, l, &w);
	else
		fh_plan_add_file(plan, plan->code_name, r->code.data ? r->code.data : "", r->code.size, 0);
	expand(&plan->argv, l->run, &w);
	set_zygote(plan, r, l, &w);
	fh_plan_set_strings(&links, NULL);
	free(links);
}

/* Sets the command of a request without a language. */
static int set_command(struct fh_plan *plan, const struct fh_request *r, struct fh_error *err)
{
	if (!r->argv || !r->argv[0]) {
		int code = fh_error_set(err, FH_E_ARGUMENT, "the request has neither a language nor a command");
		fh_error_hint(err, "set language and code, or argv");
		return code;
	}
	if (r->code.size > 0 || r->interpreter || r->venv)
		return fh_error_set(err, FH_E_ARGUMENT, "code, interpreter and venv need a language");
	fh_plan_set_strings(&plan->argv, r->argv);
	return 0;
}

/* Programs come later, each with a command of its own. A plan has a command all the same: the language's tool. */
static int set_no_program(struct fh_plan *plan, const struct fh_request *r, const struct fh_language *l,
                          const struct fh_tool *tool, struct fh_error *err)
{
	if (!l)
		return fh_error_set(err, FH_E_ARGUMENT, "a sandbox without a program needs a language, whose tools it shows");
	if (r->code.size > 0 || r->code_name || (r->args && r->args[0]) || r->argv || (r->flags && r->flags[0])) {
		int code = fh_error_set(err, FH_E_ARGUMENT, "a sandbox without a program was asked for, and a program given");
		fh_error_hint(err, "leave out no_program, or code, code_name, args, argv and flags");
		return code;
	}
	fh_plan_set_text(&plan->language, l->name);
	fh_plan_set_strings(&plan->argv, (const char *const[]){ tool->inside, NULL });
	return 0;
}

static int find_tool(struct fh_survey *s, const struct fh_request *r, const char *image,
                     struct fh_language **ret_language, struct fh_tool **ret_tool, struct fh_error *err)
{
	fh_auto_language struct fh_language *l = NULL;
	int code = fh_language_load(r->language, &l, err);
	if (code < 0)
		return code;
	if (r->venv && (r->image || r->interpreter)) {
		code = fh_error_set(err, FH_E_ARGUMENT, "a virtual environment excludes %s",
		                    r->image ? "an image" : "an interpreter");
		fh_error_hint(err, "it belongs to one interpreter of this host, which its pyvenv.cfg names");
		return code;
	}
	fh_auto_free char *path = fh_survey_variable(s, "PATH");
	fh_auto_free char *home = fh_survey_variable(s, "HOME");
	struct fh_tool_query q = { .survey = s,
		                       .language = l,
		                       .interpreter = r->interpreter,
		                       .venv = r->venv,
		                       .image = image,
		                       .path = path,
		                       .home = home };
	code = fh_tool_find(&q, ret_tool, err);
	if (code == 0)
		*ret_language = FH_TAKE_PTR(l);
	return code;
}

/* ---------------------------------------------------------------------------------------------------------- whole */

/* Files are written to the working directory. That it is writable is checked here, for a clearer error than the
 * engine's. */
static int check_cwd(const struct fh_plan *plan, struct fh_error *err)
{
	const struct fh_plan_mount *covering = NULL;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (fh_path_within(plan->cwd, plan->mounts[i].target))
			covering = &plan->mounts[i];
	if (plan->file_count == 0 && !plan->compile)
		return 0;
	if (covering && (covering->kind == FH_MOUNT_WRITABLE || (covering->kind == FH_MOUNT_BIND && covering->writable)))
		return 0;
	int code = fh_error_set(err, FH_E_ARGUMENT,
	                        "the working directory %s is read-only: the program cannot be put there", plan->cwd);
	fh_error_hint(err, "leave it at /home/user%s", covering ? ", or mount it with :rw" : "");
	return code;
}

static void plan_freep(struct fh_plan **p)
{
	fh_plan_free(*p);
}

/* No list of a plan may be longer. It is refused here, before it is copied: adding one string passes all others, and a
 * million of them would take hours. */
static int check_counts(const struct fh_request *r, struct fh_error *err)
{
	const struct {
		const char *name;
		const char *const *items;
	} lists[] = {
		{ "arguments", r->args }, { "arguments", r->argv }, { "variables", r->env }, { "compiler flags", r->flags }
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++) {
		size_t n = 0;
		while (lists[i].items && lists[i].items[n])
			n++;
		if (n > FH_PLAN_STRINGS_MAX)
			return fh_error_set(err, FH_E_LIMIT, "%zu %s; at most %d are allowed", n, lists[i].name,
			                    FH_PLAN_STRINGS_MAX);
	}
	if (r->out_count > FH_PLAN_STRINGS_MAX)
		return fh_error_set(err, FH_E_LIMIT, "%zu files to take out; at most %d are allowed", r->out_count,
		                    FH_PLAN_STRINGS_MAX);
	return 0;
}

static int build(const struct fh_request *r, struct fh_survey *s, struct fh_plan *plan, struct fh_error *err)
{
	fh_auto_language struct fh_language *l = NULL;
	fh_auto_tool struct fh_tool *tool = NULL;
	plan->layers &= ~r->without;
	plan->require = r->require;
	plan->start = r->start;
	int code = check_counts(r, err);
	if (code == 0)
		code = set_user(plan, r->user, err);
	if (code == 0)
		code = set_hostname(plan, r->hostname, err);
	if (code == 0)
		code = set_root(plan, s, r->image, r->writable_root, err);
	if (code == 0 && r->language)
		code = find_tool(s, r, plan->image, &l, &tool, err);
	if (code < 0)
		return code;
	if (tool) {
		mount_tool(plan, tool);
		fh_plan_set_text(&plan->interpreter, tool->host_path);
	}
	code = mount_asked(plan, s, r, err);
	if (code == 0)
		code = set_cwd(plan, r->cwd, err);
	if (code == 0 && l && r->standard_library_only)
		fh_layout_hide(plan, s, l->hide, l->keep, tool->prefixes);
	if (code == 0)
		code = set_env(plan, r, l, tool, err);
	if (code == 0)
		code = set_limits(plan, &r->limits, err);
	if (code == 0)
		code = r->no_program ? set_no_program(plan, r, l, tool, err)
		       : l           ? set_program(plan, r, l, err)
		                     : set_command(plan, r, err);
	if (code == 0)
		code = add_files(plan, r, err);
	if (code < 0)
		return code;
	if (l && !r->no_program)
		set_steps(plan, s, r, l, tool);
	fh_plan_identify(plan, s, l);
	code = check_cwd(plan, err);
	if (code < 0)
		return code;
	plan->stdin_data.data = fh_xmemdup(r->stdin_data.data ? r->stdin_data.data : "", r->stdin_data.size);
	plan->stdin_data.size = r->stdin_data.size;
	return 0;
}

int fh_plan_build_from(const struct fh_request *request, struct fh_survey *survey, struct fh_plan **ret,
                       struct fh_error *err)
{
	struct fh_request r;
	int code = known_part(request, &r, err);
	FH_CLEANUP(plan_freep) struct fh_plan *plan = fh_plan_new();
	if (code == 0)
		code = build(&r, survey, plan, err);
	if (survey->unanswered) {
		code = fh_error_set(err, FH_E_NOT_FOUND, "the survey of the machine has no answer to: %s", survey->unanswered);
		fh_error_hint(err, "a survey has only the answers that the recorded plan needed: record one for this request");
	}
	if (code == 0 && plan->compile)
		code = fh_plan_check(plan->compile, err);
	if (code == 0)
		code = fh_plan_check(plan, err);
	if (code < 0) {
		if (err)
			err->phase = FH_PHASE_PLAN;
		return code;
	}
	*ret = FH_TAKE_PTR(plan);
	return 0;
}

int fh_plan_build(const struct fh_request *request, struct fh_plan **ret, struct fh_error *err)
{
	fh_auto_survey_host struct fh_survey_host host;
	fh_survey_host_init(&host);
	return fh_plan_build_from(request, &host.survey, ret, err);
}
