/* SPDX-License-Identifier: MIT */
/* Variables whose file is an image, a video or sound, which a prompt can only hold in base64. */
#pragma once
#include "base/buf.h"

/* Whether the file's name says that it is one. PROMPTFOO_DISABLE_MULTIMEDIA_AS_BASE64 makes texts of all files. */
bool fh_media_is(const char *path);
/* The content as promptfoo puts it into prompts: an image as a data URL, of the type that its first bytes show, or else
 * of the one that its name has; others in base64 alone. */
void fh_media_text(const char *path, struct fh_str content, struct fh_buf *out);
