/* SPDX-License-Identifier: MIT */
/*
 * What a sandbox can be made from: the built-in templates, and snapshots that clients took.
 *
 * The built-in ones ("base", "code-interpreter-v1") show the host's own tools, with a root that can be written to. A
 * snapshot is a branch of a sandbox in which nothing runs; sandboxes that start from it are branches of that. What a
 * build made (builds.h) is a snapshot as well, with what it says of programs: its *settings*. It lives as long as the
 * server. A name belongs to one key; names end in ":TAG", and without one ":default" is meant. Several names may stand
 * for one snapshot.
 *
 * Settings: {"env": {NAME: text}, "user", "cwd", "start", "ready"}, each of which may be absent. Immutable.
 */
#pragma once
#include "base/uuid.h"
#include "e2b/keys.h"
#include "fumehood/sandbox.h"
#include "json/json.h"

enum { FH_SNAPSHOTS_MAX = 256 }; /* of one key */

struct fh_templates;
FH_OWN struct fh_templates *fh_templates_new(void);
void fh_templates_free(FH_OWN struct fh_templates *t); /* destroys the snapshots */

/* Whether `owner` may start from `name`. */
bool fh_templates_have(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* The snapshot of that name, which stays while it is taken, for fh_sandbox_branch; NULL: it is a built-in template. */
FH_NULLABLE struct fh_sandbox *fh_templates_take(struct fh_templates *t, const struct fh_key *owner, const char *name);
void fh_templates_give_back(struct fh_templates *t);

/* Takes over the sandbox on success; a snapshot of that name is replaced. ret_id: "NAME:TAG", free() it. */
struct fh_template_made {
	const char *name, *sandbox_id; /* that it was taken of; "": a build's */
	struct fh_sandbox *sandbox;
	FH_NULLABLE json_t *settings;     /* a reference is taken */
	FH_NULLABLE const char *build_id; /* NULL: a new one */
};
int fh_templates_add(struct fh_templates *t, const struct fh_key *owner, const struct fh_template_made *made,
                     char **ret_id, struct fh_error *err);
/* One more tag for what `name` stands for; what had that tag before loses it. */
int fh_templates_tag(struct fh_templates *t, const struct fh_key *owner, const char *name, const char *tag,
                     char ret_build_id[FH_UUID_SIZE], struct fh_error *err);
/* [{"tag", "buildID", "createdAt"}] of all snapshots that the name without its tag stands for. */
FH_OWN json_t *fh_templates_tags(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* Whether there is one of this name, with any tag. */
bool fh_templates_have_any(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* [{"templateID", "buildID", "names", …}], of what builds made. */
FH_OWN json_t *fh_templates_built(struct fh_templates *t, const struct fh_key *owner);
/* A reference; NULL: a built-in one, or it says nothing. */
FH_OWN FH_NULLABLE json_t *fh_templates_settings(struct fh_templates *t, const struct fh_key *owner, const char *name);
bool fh_template_is_built_in(const char *name);
bool fh_template_is_name(const char *name); /* with or without a tag */
bool fh_template_is_tag(const char *tag);
bool fh_templates_remove(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* [{"snapshotID", "names"}], newest first; of one sandbox or of one name, where these are not NULL. */
FH_OWN json_t *fh_templates_list(struct fh_templates *t, const struct fh_key *owner, FH_NULLABLE const char *sandbox_id,
                                 FH_NULLABLE const char *name);
