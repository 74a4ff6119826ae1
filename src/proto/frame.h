/* SPDX-License-Identifier: MIT */
/*
 * Frames between client and engine, over any byte stream (docs/protocol.md has the whole protocol in words).
 *
 *     greeting   FH_FRAME_MAGIC from each side, then a HELLO frame. Bytes before the magic are skipped (a login
 *                banner), at most FH_FRAME_BANNER_MAX of them.
 *     frame      u32 length of the payload, u16 type, u16 flags, u64 request, 16 bytes id; then the payload
 *
 * `request` is chosen by the client, is not 0, and is repeated in every frame that answers it. `id` is that of the
 * sandbox, process or stream that the frame concerns; zero if there is none. Ids are 128 random bits made by the
 * engine, and opaque to the client. A payload is a message of fields (proto/wire.h), except for DATA, whose payload is
 * a u64 offset and bytes. Frames of unknown type are skipped.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_FRAME_MAGIC "\nfumehood-frames/1\n"
#define FH_CAPABILITY_SURVEY "survey" /* of an engine: it answers SURVEY */
#define FH_FRAME_MAGIC_SIZE (sizeof(FH_FRAME_MAGIC) - 1)
enum {
	FH_PROTOCOL_VERSION = 1,
	FH_FRAME_HEADER_SIZE = 32,
	FH_FRAME_PAYLOAD_MAX = 16 << 20,
	FH_FRAME_DATA_MAX = 64 << 10, /* maximum bytes of a stream in one DATA frame */
	FH_FRAME_BANNER_MAX = 64 << 10,
	FH_WINDOW_DEFAULT = 256 << 10,
	FH_WINDOW_MAX = 4 << 20,
};

struct fh_id {
	uint8_t b[16];
};
static inline bool fh_id_eq(struct fh_id a, struct fh_id b)
{
	return memcmp(a.b, b.b, 16) == 0;
}
static inline bool fh_id_is_zero(struct fh_id a)
{
	return fh_id_eq(a, (struct fh_id){ { 0 } });
}
void fh_id_random(struct fh_id *ret);
void fh_id_hex(struct fh_id id, char out[33]);
bool fh_id_parse(const char *hex, struct fh_id *ret); /* 32 hexadecimal digits */

enum fh_frame_type {
	/* both ways */
	FH_FRAME_HELLO = 1,  /* F_VERSION, F_PROGRAM, F_PID, F_CAPABILITY* */
	FH_FRAME_DATA = 2,   /* id: stream. flags: FH_DATA_END. payload: u64 offset of the first byte, bytes */
	FH_FRAME_CREDIT = 3, /* id: stream. F_OFFSET: all bytes before it were consumed and may be forgotten */

	/* client to engine; each is answered by REPLY or ERROR, RUN by STARTED … RESULT or ERROR */
	FH_FRAME_RUN = 16,       /* F_PLAN, F_STDIN_OPEN, F_WINDOW: create + files + spawn + wait + outs + destroy. A group:
	                            F_MEMBER { F_PLAN, F_STDIN_OPEN, F_WINDOW }*, F_LINK*, F_LEADER */
	FH_FRAME_CREATE = 17,    /* F_PLAN, F_LEASE_MS -> REPLY F_ID sandbox */
	FH_FRAME_DESTROY = 18,   /* id: sandbox */
	FH_FRAME_RENEW = 19,     /* id: sandbox. F_LEASE_MS */
	FH_FRAME_SPAWN = 20,     /* id: sandbox. F_ARGV* F_ENV* F_CWD F_PTY F_ROWS F_COLUMNS F_NO_STDIN F_WINDOW,
	                            F_WALL_MS F_CPU_MS F_OUTPUT -> STARTED */
	FH_FRAME_WAIT = 21,      /* id: process. F_TIMEOUT_MS -> EXIT, or ERROR timeout */
	FH_FRAME_SIGNAL = 22,    /* id: process. F_SIGNAL */
	FH_FRAME_RESIZE = 23,    /* id: process. F_ROWS, F_COLUMNS */
	FH_FRAME_ATTACH = 24,    /* id: process (-> STARTED, its streams continue here) or sandbox (-> REPLY) */
	FH_FRAME_PUT = 25,       /* id: sandbox. F_FILE* -> REPLY when they are written */
	FH_FRAME_GET = 26,       /* id: sandbox. F_NAME, F_MAX_BYTES -> FILE; DATA …; REPLY when it was whole */
	FH_FRAME_LIST = 27,      /* -> REPLY F_SANDBOX* */
	FH_FRAME_CANCEL = 28,    /* request: the one to cancel; that one answers ERROR cancelled */
	FH_FRAME_PROCESSES = 29, /* id: sandbox -> REPLY F_PROCESS* */
	FH_FRAME_USAGE = 30,     /* id: sandbox -> REPLY, numbers */
	FH_FRAME_PAUSE = 31,     /* id: sandbox -> REPLY F_HOW */
	FH_FRAME_RESUME = 32,    /* id: sandbox */
	FH_FRAME_DESCRIBE = 33,  /* id: sandbox -> REPLY F_PLAN */
	FH_FRAME_SURVEY = 34,    /* F_QUESTION* -> REPLY F_ANSWER*, F_COUNT (survey/survey_wire.h) */

	/* engine to client */
	FH_FRAME_REPLY = 48,
	FH_FRAME_ERROR = 49,   /* F_CODE F_PHASE F_SYS F_RETRYABLE F_MESSAGE F_HINT */
	FH_FRAME_STARTED = 50, /* id: process. F_SANDBOX_ID, F_STREAM { F_KIND, F_ID, F_WINDOW, F_OFFSET }* */
	FH_FRAME_EXIT = 51,    /* id: process. F_EXIT, F_LAYERS, F_LAYER_MISSING*, F_ENFORCED* */
	FH_FRAME_RESULT = 52,  /* of RUN: F_EXIT, F_OUT*, F_LAYERS, F_LAYER_MISSING*, F_ENFORCED* */
	FH_FRAME_FILE = 53,    /* of RUN and GET, before its DATA: F_COUNT (which of the outs, from 0), F_STREAM (an id) */
};
/* TRUNCATED, sent with END: the output limit cut the stream here; TAKEN_OVER: from here on another client gets it */
enum { FH_DATA_END = 1, FH_DATA_TRUNCATED = 2, FH_DATA_TAKEN_OVER = 4 };

enum fh_stream_kind { FH_KIND_STDIN, FH_KIND_STDOUT, FH_KIND_STDERR, FH_KIND_FILE, FH_KIND_DRIVER, FH_KIND_COUNT_ };

enum fh_field {
	F_VERSION = 1,
	F_PROGRAM,
	F_PID,
	F_CAPABILITY,
	F_OFFSET = 16,
	F_PLAN,
	F_STDIN_OPEN,
	F_WINDOW,
	F_LEASE_MS,
	F_ARGV,
	F_ENV,
	F_CWD,
	F_PTY,
	F_ROWS,
	F_COLUMNS,
	F_NO_STDIN,
	F_WALL_MS,
	F_CPU_MS,
	F_OUTPUT,
	F_TIMEOUT_MS,
	F_SIGNAL,
	F_FILE,
	F_NAME,
	F_MAX_BYTES,
	F_MODE,
	F_CONTENT,
	F_MEMBER,
	F_LINK, /* F_FROM F_FROM_DESCRIPTOR F_TO F_TO_DESCRIPTOR */
	F_LEADER,
	F_FROM,
	F_FROM_DESCRIPTOR,
	F_TO,
	F_TO_DESCRIPTOR,
	F_USER, /* "user", "root" */
	F_TAG,
	F_HELPER,   /* in SPAWN: argv names a helper (init/helpers/helper.h) */
	F_DROP,     /* in SPAWN: the oldest unread output is discarded to make room */
	F_TREE,     /* in SIGNAL: kills everything that the process started */
	F_MORE_ENV, /* in SPAWN: added to F_ENV or the plan's, replacing variables of the same names */
	F_WHOLE,    /* in SPAWN: CPU time and usage are those of the whole sandbox from this start on */
	F_INTO,     /* in SPAWN of a helper: a helper whose stdin gets this one's stdout, which is no stream then */
	F_QUESTION, /* in SURVEY: F_KIND F_ROOT F_PATH F_ARGV* F_MAX_BYTES */
	F_ROOT,
	F_PATH,
	F_ID = 64,
	F_STREAM,
	F_KIND,
	F_SANDBOX_ID,
	F_SANDBOX,
	F_CODE = 80,
	F_PHASE,
	F_SYS,
	F_RETRYABLE,
	F_MESSAGE,
	F_HINT,
	F_EXIT = 96, /* F_STATUS F_EXIT_CODE F_SIGNAL F_FIRED F_CPU_USER_US F_CPU_SYS_US F_WALL_US F_MEMORY F_PROCESSES */
	F_STATUS,
	F_EXIT_CODE,
	F_FIRED,
	F_CPU_USER_US,
	F_CPU_SYS_US,
	F_WALL_US,
	F_MEMORY,
	F_PROCESSES,
	F_OUT, /* in RESULT, in the order of the plan's outs: F_NAME, F_SIZE, and F_STREAM (an id) or F_REFUSED */
	F_SIZE,
	F_REFUSED,
	F_LAYERS,
	F_LAYER_MISSING /* F_KIND layer, F_MESSAGE */,
	F_ENFORCED, /* F_KIND limit, F_STATUS enum fh_enforced */
	F_STOPPED,  /* in EXIT, for a member of a group: ended because the leader had ended */
	F_AGE_MS = 128,
	F_LEASE_LEFT_MS,
	F_CLIENT_PID,
	F_COMMAND,
	F_COUNT,   /* in F_SANDBOX of LIST's reply, together with F_ID */
	F_PROCESS, /* in PROCESSES' reply: F_ID F_PID F_UID F_AGE_MS F_TAG F_COMMAND, F_EXIT if it has ended */
	F_PAUSED,
	F_SESSION, /* a session, not the sandbox of a run */
	F_HOW,     /* in PAUSE's reply: enum fh_pause */
	F_UID,
	F_MEMORY_NOW,
	F_MEMORY_LIMIT,
	F_TASKS,
	F_CPUS,
	F_DISK_LIMIT,
	F_START = 144,     /* in RESULT: enum fh_start, how the program started */
	F_START_WHY,       /* why no faster start was possible */
	F_MEMORY_BASELINE, /* in F_EXIT */
	F_ANSWER = 160,    /* in SURVEY's reply: F_SYS F_FACT* F_CONTENT F_NAME* */
	F_FACT,
};

struct fh_frame {
	uint16_t type, flags;
	uint64_t request;
	struct fh_id id;
	struct fh_str payload; /* points into the decoder's input; valid until the next call */
};

/* Appends a whole frame. */
void fh_frame_write(struct fh_buf *out, uint16_t type, uint16_t flags, uint64_t request, struct fh_id id,
                    struct fh_str payload);
/* Appends a frame whose payload is written in place: begin, write fields to out, end. */
size_t fh_frame_begin(struct fh_buf *out, uint16_t type, uint16_t flags, uint64_t request, struct fh_id id);
void fh_frame_end(struct fh_buf *out, size_t mark);
void fh_frame_write_data(struct fh_buf *out, struct fh_id stream, uint16_t flags, uint64_t offset, struct fh_str bytes);
void fh_frame_write_credit(struct fh_buf *out, struct fh_id stream, uint64_t offset);
/* Appends the greeting: magic and HELLO. `capabilities`: what the program can do beyond the first version of the
 * protocol, NULL-terminated; NULL: nothing. */
void fh_frame_write_hello(struct fh_buf *out, const char *program, uint64_t pid,
                          FH_NULLABLE const char *const *capabilities);
void fh_frame_write_error(struct fh_buf *out, uint64_t request, const struct fh_error *err);

/* Extracts frames from a byte stream. Append bytes to `in` (fh_buf_reserve / read), then call fh_frame_next until it
 * returns 0. */
struct fh_frame_decoder {
	struct fh_buf in;
	size_t used;    /* bytes of `in` that were returned as frames */
	bool greeted;   /* the magic was received */
	size_t skipped; /* number of bytes that came before the magic and were skipped */
};
#define FH_FRAME_DECODER_INIT                                                                                          \
	{                                                                                                                  \
		.in = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX + FH_FRAME_HEADER_SIZE + (1 << 20))                                     \
	}
void fh_frame_decoder_release(struct fh_frame_decoder *d);
/* Returns 1: *ret is a frame; 0: more bytes are needed; negative: the peer broke the protocol, and the stream is
 * unusable. */
int fh_frame_next(struct fh_frame_decoder *d, struct fh_frame *ret, struct fh_error *err);
/* Splits a DATA payload; false if it is too short. */
bool fh_frame_data(const struct fh_frame *f, uint64_t *ret_offset, struct fh_str *ret_bytes);
/* Reads an ERROR payload. */
void fh_frame_error(const struct fh_frame *f, struct fh_error *ret);
