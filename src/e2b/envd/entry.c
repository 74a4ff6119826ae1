/* SPDX-License-Identifier: MIT */
#include "e2b/envd/entry.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/path.h"

enum { METADATA_MAX = 64 };

bool fh_entry_denied(const struct fh_hosted *h, const char *user, const struct fh_error *err)
{
	return !h->one_id && fh_account_uid(user) != 0 && (err->sys == EACCES || err->sys == EPERM);
}

int fh_entry_fail(struct fh_connect_error *e, const struct fh_error *err, const char *path)
{
	static const struct {
		int sys;
		enum fh_connect_code code;
		const char *format;
	} known[] = {
		{ ENOENT, FH_CONNECT_NOT_FOUND, "path '%s' does not exist" },
		{ ENOTDIR, FH_CONNECT_INVALID_ARGUMENT, "path is not a directory: %s" },
		{ EISDIR, FH_CONNECT_INVALID_ARGUMENT, "path '%s' is a directory" },
		{ EEXIST, FH_CONNECT_ALREADY_EXISTS, "path '%s' exists already" },
		{ EACCES, FH_CONNECT_PERMISSION_DENIED, "no permission: %s" },
		{ EPERM, FH_CONNECT_PERMISSION_DENIED, "no permission: %s" },
		{ EROFS, FH_CONNECT_PERMISSION_DENIED, "read-only file system: %s" },
		{ ENOSPC, FH_CONNECT_RESOURCE_EXHAUSTED, "the sandbox's disk is full: %s" },
		{ EDQUOT, FH_CONNECT_RESOURCE_EXHAUSTED, "the sandbox's disk is full: %s" },
		{ ELOOP, FH_CONNECT_INVALID_ARGUMENT, "too many levels of symbolic links: %s" },
		{ EMFILE, FH_CONNECT_RESOURCE_EXHAUSTED,
		  "no more folders of the sandbox can be watched at once; stop another watch first: %s" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(known); i++)
		if (err->sys == known[i].sys) {
			char message[480];
			snprintf(message, sizeof(message), known[i].format, path);
			return fh_connect_fail(e, known[i].code, "%s", message);
		}
	return fh_connect_fail_from(e, err);
}

/* A mode such as "drwxr-xr-x", in the format of Go's FileMode. */
static void permissions(const struct fh_file_info *info, char ret[16])
{
	static const char types[FH_FILE_TYPE_COUNT_] = { [FH_FILE_FOLDER] = 'd',
		                                             [FH_FILE_LINK] = 'L',
		                                             [FH_FILE_FIFO] = 'p',
		                                             [FH_FILE_SOCKET] = 'S',
		                                             [FH_FILE_BLOCK] = 'D' };
	char *to = ret;
	if (types[info->type])
		*to++ = types[info->type];
	if (info->mode & 04000)
		*to++ = 'u';
	if (info->mode & 02000)
		*to++ = 'g';
	if (info->mode & 01000)
		*to++ = 't';
	if (to == ret)
		*to++ = '-';
	for (int bit = 8; bit >= 0; bit--)
		*to++ = info->mode & 1u << bit ? "xwr"[bit % 3] : '-';
	*to = '\0';
}

static json_t *time_text(int64_t ns)
{
	char date[32], text[48];
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!gmtime_r(&s, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return json_string("1970-01-01T00:00:00Z");
	snprintf(text, sizeof(text), "%s.%09dZ", date, (int)(ns % 1000000000));
	return json_string(text);
}

static void add_metadata(json_t *entry, struct fh_hosted *h, const char *user, const char *path)
{
	fh_auto_free char *names = NULL;
	size_t size = 0, count = 0;
	const char *as = fh_account_for(h, user);
	json_t *all = json_object();
	if (fh_files_list_attributes(h->sandbox, as, path, &names, &size, NULL) == 0)
		for (const char *n = names; n < names + size && count < METADATA_MAX; n += strlen(n) + 1, count++) {
			fh_auto_free uint8_t *value = NULL;
			size_t value_size;
			if (fh_starts_with(n, FH_METADATA_PREFIX) &&
			    fh_files_get_attribute(h->sandbox, as, path, n, &value, &value_size, NULL) == 0)
				json_object_set_new(all, n + strlen(FH_METADATA_PREFIX),
				                    fh_json_bytes((struct fh_str){ (const char *)value, value_size }));
		}
	if (json_object_size(all))
		json_object_set(entry, "metadata", all);
	json_decref(all);
}

static const char *type_name(enum fh_file_type type)
{
	return type == FH_FILE_FOLDER ? "FILE_TYPE_DIRECTORY"
	       : type == FH_FILE_LINK ? "FILE_TYPE_SYMLINK"
	                              : "FILE_TYPE_FILE";
}

FH_OWN json_t *fh_entry_object(struct fh_hosted *h, const char *user, const char *path, const struct fh_file_info *info,
                               bool with_metadata)
{
	json_t *o = json_object();
	/* EntryInfo of a link has the type and mode of what it leads to */
	bool leads = info->type == FH_FILE_LINK && info->end_type != FH_FILE_LINK;
	enum fh_file_type type = leads ? info->end_type : info->type;
	char text[16], owner[16], size[24];
	snprintf(size, sizeof(size), "%llu", (unsigned long long)info->size);
	permissions(info, text);
	json_object_set_new(o, "name", fh_json_bytes(fh_str(fh_path_base(path))));
	json_object_set_new(o, "type", json_string(type_name(type)));
	json_object_set_new(o, "path", fh_json_bytes(fh_str(path)));
	json_object_set_new(o, "size", json_string(size));
	json_object_set_new(o, "mode", json_integer((leads ? info->end_mode : info->mode) & 0777));
	json_object_set_new(o, "permissions", json_string(text));
	json_object_set_new(o, "owner", json_string(fh_account_name(info->uid, owner)));
	json_object_set_new(o, "group", json_string(fh_account_name(info->gid, owner)));
	json_object_set_new(o, "modifiedTime", time_text(info->mtime_ns));
	if (info->type == FH_FILE_LINK && info->target) {
		fh_auto_free char *dir = fh_path_dir(path), *joined = fh_path_join(dir, info->target),
		                  *next = fh_path_clean(joined);
		json_object_set_new(o, "symlinkTarget", fh_json_bytes(fh_str(info->end ? info->end : next)));
	}
	if (with_metadata && type == FH_FILE_REGULAR)
		add_metadata(o, h, user, path);
	return o;
}

FH_OWN json_t *fh_entry_look(struct fh_hosted *h, const char *user, const char *path, struct fh_connect_error *e)
{
	struct fh_file_info info;
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *buffer = NULL;
	int r = fh_files_stat(h->sandbox, fh_account_for(h, user), path, FH_FILES_NOFOLLOW, &info, &buffer, &err);
	if (r < 0 && fh_entry_denied(h, user, &err))
		r = fh_files_stat(h->sandbox, "root", path, FH_FILES_NOFOLLOW, &info, &buffer, &err);
	if (r < 0) {
		if (err.sys == ENOTDIR) /* a component of the path is a file, so the path does not exist */
			err.sys = ENOENT;
		fh_entry_fail(e, &err, path);
		return NULL;
	}
	return fh_entry_object(h, user, path, &info, true);
}

/* Makes one folder; if it has to be made as root, it is then given to the user. */
static int make_folder(struct fh_hosted *h, const char *user, const char *path, struct fh_error *err)
{
	struct fh_file_changes owner = FH_FILE_CHANGES_INIT;
	owner.uid = owner.gid = fh_account_uid(user);
	struct fh_error first = FH_ERROR_INIT;
	int r = fh_files_make_folder(h->sandbox, fh_account_for(h, user), path, 0, true, &first);
	if (r == 0 || !fh_entry_denied(h, user, &first)) {
		if (r < 0)
			*err = first;
		return r;
	}
	r = fh_files_make_folder(h->sandbox, "root", path, 0, false, err);
	if (r == 0)
		(void)fh_files_change(h->sandbox, "root", path, 0, &owner, NULL);
	return r;
}

int fh_entry_make_folders(struct fh_hosted *h, const char *user, const char *path, struct fh_error *err)
{
	struct fh_error first = FH_ERROR_INIT;
	struct fh_file_info info;
	fh_auto_free char *buffer = NULL, *parent = fh_path_dir(path);
	int r = make_folder(h, user, path, &first);
	if (r < 0 && first.sys == ENOENT && !fh_streq(parent, path)) { /* root has not made the missing parent folders */
		r = fh_entry_make_folders(h, user, parent, err);
		return r < 0 ? r : make_folder(h, user, path, err);
	}
	if (r < 0 && first.sys == EEXIST &&
	    fh_files_stat(h->sandbox, fh_account_for(h, "root"), path, 0, &info, &buffer, NULL) == 0 &&
	    info.type == FH_FILE_FOLDER)
		r = 0;
	if (r < 0)
		*err = first;
	return r;
}
