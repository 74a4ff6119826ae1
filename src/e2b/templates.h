/* SPDX-License-Identifier: MIT */
/*
 * What a sandbox can be made from: the built-in templates, and snapshots that clients took.
 *
 * The built-in ones ("base", "code-interpreter-v1") show the host's own tools, with a root that can be written to. A
 * snapshot is a branch of a sandbox in which nothing runs; sandboxes that start from it are branches of that. It lives
 * as long as the server. A name belongs to one key; names end in ":TAG", and without one ":default" is meant.
 */
#pragma once
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
int fh_templates_add(struct fh_templates *t, const struct fh_key *owner, const char *name, const char *sandbox_id,
                     struct fh_sandbox *sandbox, char **ret_id, struct fh_error *err);
bool fh_templates_remove(struct fh_templates *t, const struct fh_key *owner, const char *name);
/* [{"snapshotID", "names"}], newest first; of one sandbox or of one name, where these are not NULL. */
FH_OWN json_t *fh_templates_list(struct fh_templates *t, const struct fh_key *owner, FH_NULLABLE const char *sandbox_id,
                                 FH_NULLABLE const char *name);
