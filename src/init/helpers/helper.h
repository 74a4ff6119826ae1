/* SPDX-License-Identifier: MIT */
/*
 * Helpers: operations on files and ports that fumehood-init performs for a client, each in a forked child that has the
 * rights of the sandbox's user and no others. To the engine a helper is like any process of a session: the engine only
 * carries its streams. Its argv says what to do, and its stdout answers in *records* (docs/protocol.md, "Helpers").
 *
 * A record is { u16 kind, u16 zero, u32 length, bytes }, little-endian, like the fields of proto/wire.h. It contains
 * fields of the same form; DATA and VALUE contain plain bytes. The last record is DONE, unless the rest of stdout is a
 * raw stream. An answer without DONE is incomplete: a program inside may kill a helper if both have the same user id.
 *
 * These numbers are part of the protocol and are never reused with another meaning.
 */
#pragma once

enum fh_helper_kind {
	FH_HELPER_DONE = 1, /* SYS, COUNT */
	FH_HELPER_ENTRY,    /* NAME and the fields after it */
	FH_HELPER_DATA,     /* bytes of the file that the last ENTRY named */
	FH_HELPER_ZEROS,    /* COUNT zero bytes, sent instead of DATA */
	FH_HELPER_VALUE,    /* value of an extended attribute, or a list of attribute names */
	FH_HELPER_EVENT,    /* MASK, COOKIE, NAME */
	FH_HELPER_PROGRESS, /* COUNT: the helper is still working */
	FH_HELPER_SYNCED,   /* of a watch: everything that happened before a byte came on its stdin has been told */
	FH_HELPER_LEFT_OUT, /* NAME, SYS: what an export lacks, 0 if it is of a kind that is never copied; or COUNT more */
};

enum fh_helper_field {
	FH_HELPER_SYS = 1, /* errno; 0: success */
	FH_HELPER_COUNT,
	FH_HELPER_NAME,
	FH_HELPER_TYPE, /* enum fh_file_type */
	FH_HELPER_MODE,
	FH_HELPER_UID,
	FH_HELPER_GID,
	FH_HELPER_LINKS,
	FH_HELPER_SIZE,
	FH_HELPER_INODE,
	FH_HELPER_MTIME, /* ns since 1970 */
	FH_HELPER_ATIME,
	FH_HELPER_CTIME,
	FH_HELPER_TARGET,    /* of a symbolic link: its text */
	FH_HELPER_SAME,      /* in an export: the name of an earlier entry that is the same file (hard link) */
	FH_HELPER_AGAIN,     /* in an export: a folder whose entries were all sent; its mode and times are final */
	FH_HELPER_ATTRIBUTE, /* in an export: an extended attribute: name, NUL, value */
	FH_HELPER_MASK,      /* of an event: the bits of inotify(7) */
	FH_HELPER_COOKIE,
	FH_HELPER_TOTAL, /* size of a file system in bytes */
	FH_HELPER_FREE,
	FH_HELPER_END_TYPE, /* of a symbolic link that leads to something: that one's type, mode and path without links */
	FH_HELPER_END_MODE,
	FH_HELPER_END,
	FH_HELPER_ATTRIBUTED, /* 1, of a regular file in a list: it has attributes whose names begin with "user." */
};

/* flags are decimal numbers in argv; those of file operations are defined in fumehood/session.h */
enum {
	FH_HELPER_ARGUMENTS_MAX = 64,
	FH_HELPER_RECORD_MAX = 256 * 1024, /* bytes of any record, without its head */
	FH_HELPER_LEFT_OUT_MAX = 256,      /* names that an import passes on */
};
