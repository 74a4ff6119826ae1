/* SPDX-License-Identifier: MIT */
/*
 * Helpers: what fumehood-init does with files and ports for a client, each in a forked child that has the rights of the
 * sandbox's user and no others. A helper is a process of a session as any other to the engine, which only carries its
 * streams: its argv says what to do, and its stdout answers in *records* (docs/protocol.md, "Helpers").
 *
 * A record is { u16 kind, u16 zero, u32 length, bytes }, little-endian, as the fields of proto/wire.h, and so are the
 * fields in it; DATA and VALUE hold plain bytes. The last record is DONE, but for a stream that goes on as it is. What
 * comes without a DONE was cut off: a program inside may kill a helper where it has the same user id.
 *
 * Numbers are part of the protocol: they are never used again for something else.
 */
#pragma once

enum fh_helper_kind {
	FH_HELPER_DONE = 1, /* SYS, COUNT */
	FH_HELPER_ENTRY,    /* NAME and what follows it */
	FH_HELPER_DATA,     /* bytes of the file that the last ENTRY named */
	FH_HELPER_ZEROS,    /* COUNT of them, instead of DATA */
	FH_HELPER_VALUE,    /* of an extended attribute, or names of them */
	FH_HELPER_EVENT,    /* MASK, COOKIE, NAME */
	FH_HELPER_PROGRESS, /* COUNT: it is at work still */
};

enum fh_helper_field {
	FH_HELPER_SYS = 1, /* errno; 0: all is well */
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
	FH_HELPER_TARGET,    /* of a symbolic link */
	FH_HELPER_SAME,      /* of an export: the name of an earlier entry that is the same file */
	FH_HELPER_AGAIN,     /* of an export: a folder whose entries have all come; its mode and times are final */
	FH_HELPER_ATTRIBUTE, /* of an export: an extended attribute: name, NUL, value */
	FH_HELPER_MASK,      /* of an event: as inotify(7) has it */
	FH_HELPER_COOKIE,
	FH_HELPER_TOTAL, /* bytes of a file system */
	FH_HELPER_FREE,
};

/* flags, as decimal numbers in argv; those of the file operations are fumehood/session.h's */
enum {
	FH_HELPER_ARGUMENTS_MAX = 64,
	FH_HELPER_RECORD_MAX = 256 * 1024, /* of any record, its head left out */
};
