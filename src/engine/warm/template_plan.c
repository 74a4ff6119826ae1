/* SPDX-License-Identifier: MIT */
/* Which plans can have a template, and the plan of its anchor. */
#include "engine/warm/template.h"

#include "base/path.h"
#include "engine/make/mounts.h"

static bool is_own(const struct fh_plan_mount *m)
{
	return m->kind == FH_MOUNT_WRITABLE || m->kind == FH_MOUNT_PROC || m->kind == FH_MOUNT_DEV;
}

/* Whether the plan's mounts leave FH_OWN_BENCH to be used as the sandbox's workbench (make/mounts.h). */
static bool has_own_bench(const struct fh_plan *p)
{
	bool made = false, disturbed = false;
	for (size_t i = 0; i < p->mount_count; i++) {
		const struct fh_plan_mount *m = &p->mounts[i];
		if (m->kind == FH_MOUNT_DEV && fh_path_within(FH_OWN_BENCH, m->target))
			made = fh_streq(m->target, "/dev");
		else if (is_own(m) && (fh_path_within(m->target, "/dev") || fh_path_within("/dev", m->target)))
			disturbed = true;
	}
	return made && !disturbed;
}

/* Mounts are made in order, but a template's sandboxes mount their own ones after all shared ones. So no shared mount
 * may be inside, or over, an own one that comes before it in the plan. */
const char *fh_template_refuses(const struct fh_plan *p)
{
	if (fh_plan_root_is_writable(p))
		return "its root can be written to";
	if (!has_own_bench(p))
		return "it has no /dev, or something of its own inside of it";
	for (size_t i = 0; i < p->mount_count; i++)
		for (size_t k = 0; k < i; k++) {
			if (is_own(&p->mounts[i]) || !is_own(&p->mounts[k]))
				continue;
			if (fh_path_within(p->mounts[i].target, p->mounts[k].target))
				return "something is mounted inside a folder that every sandbox has of its own";
			if (fh_path_within(p->mounts[k].target, p->mounts[i].target))
				return "something is mounted over a folder that every sandbox has of its own";
		}
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].kind == FH_MOUNT_VOLUME || (p->mounts[i].kind == FH_MOUNT_BIND && p->mounts[i].writable))
			return "it may write to a folder of the host";
	if (p->root_capabilities)
		return "root inside has capabilities";
	if (p->image)
		return "its root is an image";
	if (!(p->layers & 1u << FH_LAYER_NO_NEW_PRIVS))
		return "the layer no_new_privs is off";
	return NULL;
}

/* Adds an empty main file for the interpreter to find when it starts; each run's own file is mounted over it. */
static void add_main_file(struct fh_plan *root, const struct fh_plan *p)
{
	const char *name = p->argv[p->zygote.main_file];
	fh_auto_free char *path = fh_path_join(p->cwd, name);
	fh_auto_free char *clean = fh_path_clean(path);
	if (clean[0] == '/' && !fh_streq(clean, "/"))
		fh_plan_add_mount(root, FH_MOUNT_FILE, clean, NULL);
}

struct fh_plan *fh_template_root(const struct fh_plan *p)
{
	struct fh_plan *root = fh_plan_copy(p);
	static const char *const nothing[] = { NULL };
	for (size_t i = 0; i < root->file_count; i++) {
		free(root->files[i].name);
		free(root->files[i].content.data);
	}
	root->file_count = 0;
	free(root->stdin_data.data);
	root->stdin_data = (struct fh_bytes_owned){ NULL, 0 };
	fh_plan_set_strings(&root->outs, nothing);
	/* Landlock and the cgroup namespace are left to each sandbox. The anchor runs no program, and Landlock would refuse
	 * mounts to the sandboxes made below it. */
	root->layers &= ~(1u << FH_LAYER_LANDLOCK | 1u << FH_LAYER_CGROUP);
	if (p->zygote.main_file)
		add_main_file(root, p);
	return root;
}
