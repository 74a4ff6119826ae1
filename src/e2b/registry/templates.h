/* SPDX-License-Identifier: MIT */
/*
 * What sandboxes can be created from: built-in templates, and snapshots that clients took. The built-in ones ("base",
 * "code-interpreter-v1") show the host's own tools, with a writable root file system.
 *
 * A snapshot is a branch of a sandbox in which no program runs; sandboxes created from it are branches of the snapshot.
 * A built template (builds.h) is a snapshot too; it also has *settings* for its programs. Snapshots live as long as
 * the server, and on disk where it has a state (state.h). A name belongs to one key; names end in ":TAG", by default
 * ":default". A snapshot may have several names.
 *
 * Settings: {"env": {NAME: text}, "user", "cwd", "start", "ready"}; each may be missing. Immutable.
 */
#pragma once
#include "base/text/uuid.h"
#include "e2b/common/keys.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

enum { FH_SNAPSHOTS_MAX = 256 }; /* maximum of snapshots for each key */

struct fh_templates;
struct fh_state;
/* state: where snapshots are kept on disk; NULL: nowhere. Borrowed. */
FH_OWN struct fh_templates *fh_templates_new(FH_NULLABLE struct fh_state *state);
/* Frees the table and destroys the snapshots; those on disk stay. */
void fh_templates_free(FH_OWN struct fh_templates *t);
/* Adds a snapshot of an earlier server from its record, with all its names; takes over the sandbox on success. */
int fh_templates_put_back(struct fh_templates *t, const struct fh_key *owner, const json_t *record,
                          struct fh_sandbox *sandbox, struct fh_error *err);

/* Whether `owner` may create sandboxes from `name`. */
bool fh_templates_have(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* The snapshot of that name, for fh_sandbox_branch; it is not freed until it is given back. NULL: it is a built-in
 * template. */
FH_NULLABLE struct fh_sandbox *fh_templates_take(struct fh_templates *t, const struct fh_key *owner, const char *name);
void fh_templates_give_back(struct fh_templates *t);

/* Adds a snapshot; takes over the sandbox on success. It replaces a snapshot of the same name. ret_id: "NAME:TAG",
 * free() it. */
struct fh_template_made {
	const char *name, *sandbox_id; /* sandbox_id: the sandbox from which it was taken; "": made by a build */
	struct fh_sandbox *sandbox;
	FH_NULLABLE json_t *settings;     /* a new reference is taken */
	FH_NULLABLE const char *build_id; /* id of the build; NULL: a new id is made */
};
int fh_templates_add(struct fh_templates *t, const struct fh_key *owner, const struct fh_template_made *made,
                     char **ret_id, struct fh_error *err);
/* Adds a tag to the snapshot `name`; another snapshot that has this tag loses it. */
int fh_templates_tag(struct fh_templates *t, const struct fh_key *owner, const char *name, const char *tag,
                     char ret_build_id[FH_UUID_SIZE], struct fh_error *err);
/* [{"tag", "buildID", "createdAt"}] of all snapshots with this name, which is given without a tag. */
FH_OWN json_t *fh_templates_tags(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* Whether a snapshot has this name, with any tag. */
bool fh_templates_have_any(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* [{"templateID", "buildID", "names", …}] of all built templates. */
FH_OWN json_t *fh_templates_built(struct fh_templates *t, const struct fh_key *owner);
/* The settings of a template, with a new reference; NULL: it is built-in, or has none. */
FH_OWN FH_NULLABLE json_t *fh_templates_settings(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* Lowers the limits of a sandbox to the size that its template was built for ("cpuCount", "memoryMB"); raises none. */
void fh_template_lower(FH_NULLABLE const json_t *settings, struct fh_limits *limits);
bool fh_template_is_built_in(const char *name);
bool fh_template_is_name(const char *name); /* whether a text is a valid name, with or without a tag */
bool fh_template_is_tag(const char *tag);
/* Removes every tag of a built template; false: there was none. */
bool fh_templates_remove_all(struct fh_templates *t, const struct fh_key *owner, const char *name);
bool fh_templates_remove(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* [{"snapshotID", "names"}], the newest first; only those of a sandbox or a name, if these are not NULL. */
FH_OWN json_t *fh_templates_list(struct fh_templates *t, const struct fh_key *owner, FH_NULLABLE const char *sandbox_id,
                                 FH_NULLABLE const char *name);
