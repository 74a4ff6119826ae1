/* SPDX-License-Identifier: MIT */
#include "e2b/registry/boot.h"

#include "base/text/uuid.h"
#include "e2b/common/tools.h"
#include "e2b/hosted/accounts.h"
#include "e2b/hosted/metrics.h"
#include "e2b/hosted/processes.h"
#include "e2b/hosted/volume.h"
#include "e2b/registry/templates.h"
#include "fumehood/session.h"
#include "proto/plan.h"

enum { KILL_MS = 10000 };
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Programs read this number to tell one start of a machine from another: each sandbox has its own, and gets a new one
 * after an event that ended its programs. */
static FH_OWN char *boot_id(const struct fh_hosted *h FH_UNUSED)
{
	char id[FH_UUID_SIZE];
	fh_uuid(id);
	return fh_xasprintf("%s\n", id);
}

static FH_OWN char *yes(const struct fh_hosted *h FH_UNUSED)
{
	return fh_xstrdup("true");
}

static FH_OWN char *sandbox_id(const struct fh_hosted *h)
{
	return fh_xstrdup(h->id);
}

static FH_OWN char *template_id(const struct fh_hosted *h)
{
	return fh_xstrdup(h->template_id);
}

/* What tells programs where they are. Those below /run say what the variables of the same names do, to programs that
 * were started without them. */
static const struct own_file {
	const char *path;
	char *(*text)(const struct fh_hosted *h);
	bool covers; /* a file of the kernel's, over which it is mounted */
} own_files[] = {
	{ BOOT_ID, boot_id, true },
	{ "/run/e2b/.E2B_SANDBOX", yes, false },
	{ "/run/e2b/.E2B_SANDBOX_ID", sandbox_id, false },
	{ "/run/e2b/.E2B_TEMPLATE_ID", template_id, false },
};

/* What a login shell of a new account finds at home on Debian. Programs add lines to these files, and clients expect
 * them to be there. */
static const struct {
	const char *name, *text;
} home_files[] = {
	{ ".profile", "# Read by login shells.\n"
	              "if [ -n \"$BASH_VERSION\" ] && [ -f \"$HOME/.bashrc\" ]; then . \"$HOME/.bashrc\"; fi\n"
	              "if [ -d \"$HOME/bin\" ]; then PATH=\"$HOME/bin:$PATH\"; fi\n"
	              "if [ -d \"$HOME/.local/bin\" ]; then PATH=\"$HOME/.local/bin:$PATH\"; fi\n" },
	{ ".bashrc", "# Read by interactive shells.\ncase $- in *i*) ;; *) return ;; esac\n" },
};

static void add_home_files(struct fh_plan *plan)
{
	static const char *const users[] = { "user", "root" };
	for (size_t u = 0; u < FH_ARRAY_SIZE(users); u++)
		for (size_t i = 0; i < FH_ARRAY_SIZE(home_files); i++) {
			fh_auto_free char *path = fh_xasprintf("%s/%s", fh_account_home(users[u]), home_files[i].name);
			fh_plan_add_file(plan, path, home_files[i].text, strlen(home_files[i].text), 0644);
		}
}

static void add_own_files(const struct fh_hosted *h, struct fh_plan *plan)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(own_files); i++) {
		const struct own_file *f = &own_files[i];
		fh_auto_free char *text = f->text(h);
		if (!f->covers) {
			fh_plan_add_file(plan, f->path, text, strlen(text), 0);
			continue;
		}
		struct fh_plan_mount *m = fh_plan_add_mount(plan, FH_MOUNT_FILE, f->path, NULL);
		m->content.size = strlen(text);
		m->content.data = fh_xmemdup(text, m->content.size);
		m->writable = true;
	}
}

/* A copy of another sandbox has that one's. */
static void renew_own_files(struct fh_hosted *h)
{
	struct fh_open_options o = FH_OPEN_OPTIONS_INIT;
	o.user = fh_account_for(h, "user");
	o.flags = FH_OPEN_WRITE | FH_OPEN_TRUNCATE;
	for (size_t i = 0; i < FH_ARRAY_SIZE(own_files); i++) {
		struct fh_file_stream *file;
		if (fh_file_stream_open(h->sandbox, own_files[i].path, &o, &file, NULL) < 0)
			continue;
		fh_auto_free char *text = own_files[i].text(h);
		(void)fh_file_stream_write(file, text, strlen(text), NULL);
		(void)fh_file_stream_close(file, NULL);
	}
}

/* Makes the sandbox with the rights of a plain user and a writable root file system, as images have; each command
 * chooses its own user. The sandbox belongs to this client's lease: if the server is killed, it ends too. */
static int make(struct fh_hosted *h, const struct fh_sandbox_options *o, struct fh_error *err)
{
	static const char *const argv[] = { "/bin/true", NULL };
	struct fh_request q;
	struct fh_plan *plan = NULL;
	char **env = fh_account_env(h, "user", false, NULL);
	fh_request_init(&q);
	q.argv = argv;
	q.env = (const char *const *)env;
	q.limits = h->limits;
	q.writable_root = true;
	q.hostname = "e2b.local";
	int r = fh_plan_build(&q, &plan, err);
	fh_strings_free(env);
	if (r == 0) { /* /root is open to both users, for sandboxes whose root has no capabilities */
		fh_plan_add_mount(plan, FH_MOUNT_WRITABLE, "/root", NULL)->mode = 0777;
		plan->root_capabilities = true;
		add_own_files(h, plan);
		add_home_files(plan);
		fh_e2b_add_tools(plan);
		fh_volume_mounts_plan(h, plan);
	}
	if (r == 0)
		r = fh_sandbox_create(h->engine->client, plan, o, &h->sandbox, err);
	fh_plan_free(plan);
	return r;
}

/* As make. An engine that dies meanwhile takes nothing of this sandbox's with it: the next engine makes it. */
static int make_by_any(struct fh_hosted *h, struct fh_sandbox_options *o, struct fh_error *err)
{
	int r = make(h, o, err);
	if (r == 0 || !fh_e2b_engine_is_dead(h->engine))
		return r;
	fh_e2b_engine_drop(FH_TAKE_PTR(h->engine));
	r = fh_e2b_engine_get(&h->server->engines, &h->engine, err);
	return r < 0 ? r : make(h, o, err);
}

/* Makes the sandbox with a copy of another's files, and with volumes and limits of its own. */
static int branch(struct fh_hosted *h, struct fh_sandbox *from, struct fh_sandbox_options *o, struct fh_error *err)
{
	struct fh_plan *plan = NULL;
	int r = h->volume_count || h->settings ? fh_sandbox_plan(from, &plan, err) : 0;
	if (plan) {
		fh_volume_mounts_plan(h, plan);
		plan->limits = h->limits;
	}
	o->plan = plan;
	if (r == 0)
		r = fh_sandbox_branch(from, o, &h->sandbox, err);
	fh_plan_free(plan);
	return r;
}

int fh_hosted_copy(struct fh_hosted *h, struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_plan *plan = NULL;
	int r = fh_sandbox_plan(h->sandbox, &plan, err);
	if (r < 0)
		return r;
	fh_plan_drop_mounts(plan, FH_MOUNT_VOLUME);
	o.plan = plan;
	r = fh_sandbox_branch(h->sandbox, &o, ret, err);
	fh_plan_free(plan);
	return r;
}

/* Whether its processes can only have one user id. That depends on the host and is the same for all sandboxes. */
static bool has_one_id(struct fh_hosted *h)
{
	struct fh_file_info info;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *buffer = NULL;
	return fh_files_stat(h->sandbox, "root", "/", 0, &info, &buffer, &err) == -FH_E_UNAVAILABLE;
}

int fh_hosted_boot(struct fh_hosted *h, FH_NULLABLE struct fh_sandbox *branch_of, int files, struct fh_error *err)
{
	static atomic_int one_id; /* whether sandboxes have one user id; 0: unknown, 1: no, 2: yes */
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_sandbox *kept = branch_of    ? branch_of
	                          : files >= 0 ? NULL
	                                       : fh_templates_take(h->server->templates, h->owner, h->template_id);
	o.name = h->id;
	int r = fh_e2b_engine_get(&h->server->engines, &h->engine, err);
	if (r == 0)
		r = files >= 0 ? fh_sandbox_restore(h->engine->client, files, &o, &h->sandbox, err)
		    : kept     ? branch(h, kept, &o, err)
		               : make_by_any(h, &o, err);
	if (kept && !branch_of)
		fh_templates_give_back(h->server->templates);
	if (r == 0 && atomic_load(&one_id) == 0)
		atomic_store(&one_id, has_one_id(h) ? 2 : 1);
	h->one_id = atomic_load(&one_id) == 2;
	if (r == 0 && (kept || files >= 0))
		renew_own_files(h);
	return r;
}

/* Kills all processes of a user. A process may signal only those of its own user, so each user's are killed by a
 * process of that user: kill(-1) spares its caller, which then exits. */
static void kill_all(struct fh_hosted *h, const char *user)
{
	static const char *const argv[] = { "/bin/bash", "-c", "kill -9 -1", NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	struct fh_exit x;
	o.argv = argv;
	o.user = fh_account_for(h, user);
	o.no_stdin = true;
	if (fh_process_spawn(h->sandbox, &o, &p, NULL) < 0)
		return;
	(void)fh_process_wait(p, KILL_MS, &x, NULL);
	fh_process_free(p);
}

void fh_hosted_end_programs(struct fh_hosted *h)
{
	for (const struct fh_hosted_part *part = h->server->parts; part->forget; part++)
		if (part->is_of_programs)
			part->forget(h);
	kill_all(h, "user");
	if (!h->one_id)
		kill_all(h, "root");
	renew_own_files(h);
}

void fh_hosted_release_parts(struct fh_hosted *h)
{
	fh_hosted_forget_processes(h);
	for (const struct fh_hosted_part *part = h->server->parts; part->forget; part++)
		part->forget(h);
	fh_hosted_forget_metrics(h);
}
