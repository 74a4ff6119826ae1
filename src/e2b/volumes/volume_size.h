/* SPDX-License-Identifier: MIT */
/* How large volumes are: looked at from the inside, by programs in the server's own sandbox of each. */
#pragma once
#include "e2b/volumes/volumes.h"

struct fh_volume_watch;
/* Starts a thread that looks, every few seconds, at the volumes that `list` returns: an array to be freed, with a
 * reference to each. */
FH_OWN struct fh_volume_watch *fh_volume_watch_start(struct fh_e2b *server,
                                                     size_t (*list)(void *context, struct fh_volume ***ret),
                                                     void *context);
void fh_volume_watch_stop(FH_OWN FH_NULLABLE struct fh_volume_watch *w);

/* Looks at once; pauses the sandboxes that run with it if it is too large. */
void fh_volume_look(struct fh_e2b *server, struct fh_volume *v);

/* Removes everything in the volume; h: its hidden sandbox. */
int fh_volume_empty(struct fh_hosted *h, int64_t patience_ms, struct fh_error *err);
