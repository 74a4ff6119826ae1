/* SPDX-License-Identifier: MIT */
/*
 * Builds of templates, as the SDKs' template API asks for them: a sandbox in which the steps are carried out, one after
 * the other, whose files are a snapshot in the end.
 *
 *     POST /v3/templates ─▶ waiting ─ its steps ─▶ building, on a thread of its own ─▶ ready, or error with a reason
 *
 * A build, and every archive that a client uploads for COPY, belongs to one key; what is forgotten first is what is
 * oldest. Archives are files without a name on the server's disk. Steps run inside, as the commands of any sandbox do,
 * under the key's ceilings.
 */
#pragma once
#include "base/uuid.h"
#include "e2b/server.h"

enum { FH_BUILDS_MAX = 64, FH_BUILD_ARCHIVES_MAX = 64 }; /* of one key, remembered */
#define FH_BUILD_ARCHIVE_BYTES_MAX ((uint64_t)1 << 30)

struct fh_template_builds;
FH_OWN struct fh_template_builds *fh_template_builds_new(struct fh_e2b *server);
void fh_template_builds_free(FH_OWN struct fh_template_builds *b); /* no build is under way */

/* Waiting for its steps. tags: texts, checked already. */
void fh_template_build_announce(struct fh_template_builds *b, const struct fh_key *owner, const char *name,
                                json_t *tags, char ret_id[FH_UUID_SIZE]);
/* Begins it. -FH_E_NOT_FOUND; -FH_E_ARGUMENT: it has begun, or its request makes no sense. */
int fh_template_build_start(struct fh_template_builds *b, const struct fh_key *owner, const char *name, const char *id,
                            json_t *request, struct fh_error *err);
/* {"templateID", "buildID", "status", "logs", "logEntries", "reason"}, the log from its offset-th line on. NULL: there
 * is none. */
FH_OWN FH_NULLABLE json_t *fh_template_build_status(struct fh_template_builds *b, const struct fh_key *owner,
                                                    const char *name, const char *id, size_t offset);

/* Whether the archive of that hash is there. Else *ret_token is the secret that an upload of it is known by. */
bool fh_template_build_has_archive(struct fh_template_builds *b, const struct fh_key *owner, const char *hash,
                                   char **ret_token);
/* A copy of the descriptor that an upload with this secret is written to, emptied; -1: there is none. */
int fh_template_build_archive_open(struct fh_template_builds *b, const char *token);
void fh_template_build_archive_done(struct fh_template_builds *b, const char *token);
