/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/identity.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/path.h"
#include "sandbox/planning/interpreter.h"

/* Adds a file below the root of an image, whose links are followed within it; image "": of the machine. */
static bool add_below(struct fh_sha256 *h, struct fh_survey *s, const char *image, const char *path)
{
	struct fh_survey_facts facts;
	if (!fh_survey_facts(s, image, path, &facts))
		return false;
	fh_survey_facts_hash(h, path, &facts);
	return true;
}

bool fh_identity_add_file(struct fh_sha256 *h, struct fh_survey *s, const char *path)
{
	return add_below(h, s, "", path);
}

/* ------------------------------------------------------------------------------------------------------- the system */

/* Files that change with every package that is installed or removed. */
static const char *const databases[] = {
	"/var/lib/dpkg/status",  "/var/lib/rpm/rpmdb.sqlite", "/usr/lib/sysimage/rpm/rpmdb.sqlite",
	"/lib/apk/db/installed", "/var/lib/pacman/local",     "/run/current-system",
	"/etc/ld.so.cache"
};

/* Adds the file that a path inside leads to, if a bind mount or the image shows it there. */
static void add_inside(struct fh_sha256 *h, const struct fh_plan *plan, struct fh_survey *s, const char *path)
{
	const struct fh_plan_mount *covering = NULL;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (!fh_streq(plan->mounts[i].target, "/") && fh_path_within(path, plan->mounts[i].target))
			covering = &plan->mounts[i];
	if (!covering && plan->image) {
		(void)add_below(h, s, plan->image, path);
	} else if (covering && covering->kind == FH_MOUNT_BIND) {
		fh_auto_free char *on_host = fh_xasprintf("%s%s", covering->source, path + strlen(covering->target));
		(void)fh_identity_add_file(h, s, on_host);
	}
}

/* Adds which file or folder a mount shows. What a program may write to, and a folder, have changing times. */
static void add_mount(struct fh_sha256 *h, struct fh_survey *s, const struct fh_plan_mount *m)
{
	struct fh_survey_facts facts;
	if (m->kind != FH_MOUNT_BIND || fh_in_default_image(m->source) || !fh_survey_facts(s, "", m->source, &facts))
		return;
	if (m->writable || S_ISDIR(facts.mode))
		facts = (struct fh_survey_facts){ .device = facts.device, .inode = facts.inode };
	fh_survey_facts_hash(h, m->target, &facts);
}

static char *hex_of(struct fh_sha256 *h)
{
	char hex[FH_SHA256_HEX];
	fh_sha256_hex(h, hex);
	return fh_xstrdup(hex);
}

static char *of_system(const struct fh_plan *plan, struct fh_survey *s)
{
	struct fh_sha256 h = FH_SHA256_INIT;
	const char *image = plan->image ? plan->image : "";
	if (plan->image)
		(void)add_below(&h, s, image, "/");
	for (size_t i = 0; i < FH_ARRAY_SIZE(databases); i++)
		(void)add_below(&h, s, image, databases[i]);
	if (plan->interpreter[0])
		(void)fh_identity_add_file(&h, s, plan->interpreter);
	if (plan->argv[0] && plan->argv[0][0] == '/')
		add_inside(&h, plan, s, plan->argv[0]);
	for (size_t i = 0; i < plan->mount_count; i++)
		add_mount(&h, s, &plan->mounts[i]);
	return hex_of(&h);
}

/* ---------------------------------------------------------------------------------------------------------- modules */

/* The folders above the bin/ of the interpreter and of the program as the plan names it, which differ in a virtual
 * environment. */
static void prefixes_of(const struct fh_plan *plan, char **ret)
{
	const char *const programs[] = { plan->interpreter, plan->argv[0] ? plan->argv[0] : "" };
	size_t n = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(programs); i++) {
		if (programs[i][0] != '/')
			continue;
		fh_auto_free char *bin = fh_path_dir(programs[i]);
		fh_auto_free char *prefix = fh_path_dir(bin);
		if (n == 0 || !fh_streq(ret[0], prefix))
			ret[n++] = FH_TAKE_PTR(prefix);
	}
	ret[n] = NULL;
}

static void add_folders(char ***folders, const struct fh_plan *plan, struct fh_survey *s, const char *prefix,
                        const char *pattern)
{
	fh_auto_free char *path = fh_xasprintf("%s%s%s", plan->image ? plan->image : "", prefix, pattern);
	fh_auto_survey_list char **found = fh_survey_glob(s, path);
	for (size_t i = 0; found[i]; i++)
		fh_plan_add_string(folders, found[i]);
}

/* The folders of the host in which the language's modules are searched. */
static void find_folders(const struct fh_plan *plan, struct fh_survey *s, const struct fh_language *l, char ***folders)
{
	static const char word[] = "{prefix}";
	char *const *const lists[] = { l->module_folders, l->hide };
	char *prefixes[3];
	prefixes_of(plan, prefixes);
	for (size_t k = 0; k < FH_ARRAY_SIZE(lists); k++)
		for (char *const *pattern = lists[k]; *pattern; pattern++) {
			if (!fh_starts_with(*pattern, word))
				add_folders(folders, plan, s, "", *pattern);
			for (size_t i = 0; fh_starts_with(*pattern, word) && prefixes[i]; i++)
				add_folders(folders, plan, s, fh_streq(prefixes[i], "/") ? "" : prefixes[i],
				            *pattern + sizeof(word) - 1);
		}
	for (size_t i = 0; prefixes[i]; i++)
		free(prefixes[i]);
}

/* Adds the file of a module, and its folder, which changes when files of it are replaced. False: it has none there. */
static bool add_module(struct fh_sha256 *h, struct fh_survey *s, const char *folder, const char *form,
                       const char *module)
{
	static const char word[] = "{module}";
	fh_auto_buf struct fh_buf path = FH_BUF_INIT(FH_PLAN_PATH_MAX);
	const char *at = strstr(form, word);
	fh_buf_addf(&path, "%s/%.*s", folder, at ? (int)(at - form) : 0, form);
	for (const char *c = module; *c; c++)
		fh_buf_addc(&path, *c == '.' ? '/' : *c);
	fh_buf_adds(&path, at ? at + sizeof(word) - 1 : "");
	if (path.overflowed || !fh_identity_add_file(h, s, fh_buf_cstr(&path)))
		return false;
	fh_auto_free char *own = fh_path_dir(fh_buf_cstr(&path));
	(void)fh_identity_add_file(h, s, own);
	return true;
}

/* The identity of one module; "" for one that is part of the interpreter, or is found nowhere. */
static char *of_module(const struct fh_plan *plan, struct fh_survey *s, char *const *folders,
                       const struct fh_language *l, const char *module)
{
	struct fh_sha256 h = FH_SHA256_INIT;
	if (module[0] == '/') {
		add_inside(&h, plan, s, module);
		return hex_of(&h);
	}
	for (; *folders; folders++)
		for (char *const *form = l->module_files; *form; form++)
			if (add_module(&h, s, *folders, *form, module))
				return hex_of(&h);
	return fh_xstrdup("");
}

static void identify_modules(struct fh_plan *plan, struct fh_survey *s, const struct fh_language *l)
{
	struct fh_plan_zygote *z = &plan->zygote;
	char **folders = fh_xcalloc(1, sizeof(char *));
	fh_plan_set_strings(&z->preload_identity, NULL);
	if (z->preload[0])
		find_folders(plan, s, l, &folders);
	for (size_t i = 0; z->preload[i]; i++) {
		fh_auto_free char *identity = of_module(plan, s, folders, l, z->preload[i]);
		fh_plan_add_string(&z->preload_identity, identity);
	}
	fh_plan_set_strings(&folders, NULL);
	free(folders);
}

void fh_plan_identify(struct fh_plan *plan, struct fh_survey *s, const struct fh_language *language)
{
	free(plan->image_identity);
	plan->image_identity = of_system(plan, s);
	if (language)
		identify_modules(plan, s, language);
	if (plan->compile)
		fh_plan_identify(plan->compile, s, NULL);
}
