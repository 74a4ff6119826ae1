/* SPDX-License-Identifier: MIT */
/*
 * Builds of templates, for the template API of E2B's SDKs. The steps run in a sandbox, one after another; a snapshot of
 * its files becomes the template.
 *
 *     POST /v3/templates ─▶ waiting ─ its steps ─▶ building, on a thread of its own ─▶ ready, or error with a reason
 *
 * A build, and every archive that a client uploads for COPY, belongs to one key; the oldest are forgotten first.
 * Archives are unnamed files on the server's disk. Steps are commands of the sandbox, under the key's ceilings.
 */
#pragma once
#include "base/text/uuid.h"
#include "e2b/hosted/e2b.h"

enum { FH_BUILDS_MAX = 64, FH_BUILD_ARCHIVES_MAX = 64 }; /* maximum for each key; the oldest are forgotten */
#define FH_BUILD_ARCHIVE_BYTES_MAX ((uint64_t)1 << 30)

struct fh_template_builds;
FH_OWN struct fh_template_builds *fh_template_builds_new(struct fh_e2b *server);
void fh_template_builds_free(FH_OWN struct fh_template_builds *b); /* no build may be running */

/* Registers a build that waits for its steps. tags: texts; size: an object that fh_template_lower() takes; both are
 * already checked. */
void fh_template_build_announce(struct fh_template_builds *b, const struct fh_key *owner, const char *name,
                                json_t *tags, json_t *size, char ret_id[FH_UUID_SIZE]);
/* Starts a build. -FH_E_NOT_FOUND; -FH_E_ARGUMENT: it was started before, or the request is invalid. */
int fh_template_build_start(struct fh_template_builds *b, const struct fh_key *owner, const char *name, const char *id,
                            json_t *request, struct fh_error *err);
/* {"templateID", "buildID", "status", "logs", "logEntries", "reason"}, with log lines from `offset` on. NULL: there is
 * no such build. */
FH_OWN FH_NULLABLE json_t *fh_template_build_status(struct fh_template_builds *b, const struct fh_key *owner,
                                                    const char *name, const char *id, size_t offset);

/* Whether the archive with that hash was uploaded. If not, *ret_token is a secret that an upload of it has to
 * present. */
bool fh_template_build_has_archive(struct fh_template_builds *b, const struct fh_key *owner, const char *hash,
                                   char **ret_token);
/* A duplicate of the descriptor for the upload with this secret, whose file is emptied; -1: the secret is unknown. */
int fh_template_build_archive_open(struct fh_template_builds *b, const char *token);
void fh_template_build_archive_done(struct fh_template_builds *b, const char *token);
