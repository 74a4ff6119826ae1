/* SPDX-License-Identifier: MIT */
#include "eval/rendering/media.h"
#include <strings.h>
#include "base/path.h"
#include "base/text/base64.h"
#include "eval/common/env.h"

static const struct {
	const char *ext;
	const char *image; /* its type; NULL: no image */
} kinds[] = {
	{ ".jpg", "image/jpeg" },
	{ ".jpeg", "image/jpeg" },
	{ ".png", "image/png" },
	{ ".gif", "image/gif" },
	{ ".bmp", "image/bmp" },
	{ ".webp", "image/webp" },
	{ ".svg", "image/svg+xml" },
	{ ".tif", "image/tiff" },
	{ ".tiff", "image/tiff" },
	{ ".avif", "image/avif" },
	{ ".heic", "image/heic" },
	{ ".heif", "image/heif" },
	{ ".mp4", NULL },
	{ ".mpeg", NULL },
	{ ".mpg", NULL },
	{ ".webm", NULL },
	{ ".ogg", NULL },
	{ ".mov", NULL },
	{ ".avi", NULL },
	{ ".flv", NULL },
	{ ".wmv", NULL },
	{ ".mkv", NULL },
	{ ".m4v", NULL },
	{ ".3gp", NULL },
	{ ".3gpp", NULL },
	{ ".wav", NULL },
	{ ".mp3", NULL },
	{ ".aac", NULL },
	{ ".m4a", NULL },
	{ ".flac", NULL },
	{ ".wma", NULL },
	{ ".aif", NULL },
	{ ".aiff", NULL },
	{ ".aifc", NULL },
	{ ".opus", NULL },
};

/* What images begin with, in base64. */
static const char *const beginnings[][2] = {
	{ "/9j/", "image/jpeg" },  { "iVBORw0KGgo", "image/png" }, { "R0lGODlh", "image/gif" }, { "R0lGODdh", "image/gif" },
	{ "UklGR", "image/webp" }, { "Qk0", "image/bmp" },         { "Qk1", "image/bmp" },      { "SUkq", "image/tiff" },
	{ "TU0A", "image/tiff" },  { "AAABAA", "image/x-icon" },
};

/* The index of the file's kind; FH_ARRAY_SIZE(kinds): it has none. */
static size_t kind_of(const char *path)
{
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(kinds) && strcasecmp(kinds[i].ext, fh_path_ext(path)) != 0)
		i++;
	return i;
}

bool fh_media_is(const char *path)
{
	return kind_of(path) < FH_ARRAY_SIZE(kinds) && !fh_env_on("PROMPTFOO_DISABLE_MULTIMEDIA_AS_BASE64");
}

void fh_media_text(const char *path, struct fh_str content, struct fh_buf *out)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_base64_encode(&text, content);
	size_t kind = kind_of(path);
	const char *image = kind < FH_ARRAY_SIZE(kinds) ? kinds[kind].image : NULL;
	for (size_t i = 0; image && i < FH_ARRAY_SIZE(beginnings); i++)
		if (fh_starts_with(fh_buf_cstr(&text), beginnings[i][0])) {
			image = beginnings[i][1];
			break;
		}
	if (image)
		fh_buf_addf(out, "data:%s;base64,", image);
	fh_buf_add(out, text.p, text.n);
}
