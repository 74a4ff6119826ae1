/* SPDX-License-Identifier: MIT */
/*
 * The engine, and which object owns which.
 *
 *     engine ── connections                    one for each client; the first one keeps the engine alive
 *            └─ sandboxes ── processes ── streams
 *
 * A sandbox belongs to the engine; it *answers to* at most one connection, and to none once that connection is closed
 * and a lease keeps the sandbox alive. Each stream sends to a connection of its own, which an ATTACH request changes.
 * Everything runs on one event loop and nothing blocks: what takes time is done by the kernel (teardown), by the set-up
 * child or by init.
 *
 * The folders of src/engine. Each includes headers only of those listed before it (tools/check-layers):
 *
 *     host    what the machine offers: control groups, ids, network namespaces, a user namespace for root of a
 *             container, facts read from the kernel
 *     make    turns a plan into a running init: the set-up child, mounts, Landlock, seccomp, the holder
 *     core    running sandboxes, processes and streams, whatever owns them (sandbox.h)
 *     warm    what is made ahead of a request: templates, zygotes, pools
 *     serve   what clients ask for: runs, groups, sessions, requests, and the program's main
 *
 * Where core has to call a later folder it goes through a const table: struct fh_handler (serve), struct fh_owner (what
 * a sandbox serves) and struct fh_origin (what a sandbox was made from).
 */
#pragma once
#include "base/error.h"
#include "engine/core/loop.h"
#include "engine/host/cgroup.h"
#include "engine/host/ids.h"
#include "engine/host/keeper.h"

struct fh_connection; /* connection.h */
struct fh_frame;      /* proto/frame.h */
struct fh_sandbox;    /* sandbox.h */
struct fh_survey_request;
struct fh_engine;

enum {
	FH_SANDBOXES_MAX = 4096,
	FH_CONNECTIONS_MAX = 256,
};

/* The callbacks by which core hands requests to serve; fh_request_handler (serve/requests.c) implements them. */
struct fh_handler {
	/* Handles one frame from a client. A negative code means that the client broke the protocol; its connection is
	 * closed. */
	int (*on_frame)(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
	/* The connection is closed: drops the client's requests that still wait for their turn. */
	void (*on_close)(struct fh_engine *e, struct fh_connection *c);
	/* Called when a connection, a sandbox or a template is gone; ends the engine when nothing needs it any more. */
	void (*settle)(struct fh_engine *e);
};

struct fh_engine {
	struct fh_loop *loop;
	const struct fh_handler *handler;
	int stop;
	struct fh_cgroup_host cgroups;
	struct fh_id_pool ids;
	unsigned cpus;
	struct fh_connection *connections; /* list by ->next */
	size_t connection_count;
	struct fh_connection *main;   /* the client that started the engine; NULL once that connection is closed */
	struct fh_sandbox *sandboxes; /* list by ->next, newest first */
	size_t sandbox_count;
	struct fh_watch listener, service_listener, signals;
	struct fh_timer idle_timer; /* for a service: ends it after idle_ns without use */
	int64_t idle_ns, used_ns;   /* idle_ns 0: the service never ends for being idle */
	uint32_t next_token;        /* the last token that was used in messages to holders and zygotes */
	int spare; /* a reserved descriptor, closed for a moment to accept and refuse a client when none are left */
	struct fh_keeper keeper;
	bool leaving;    /* the engine was told to end by a signal */
	bool fresh_only; /* starts every sandbox fresh: nothing is made ahead */
	/* serves independent clients: stays alive without any, and makes a template at the first run of a kind */
	bool service;

	struct fh_survey_request *surveys; /* list by ->next (serve/survey.h) */

	/* used by warm/ */
	struct fh_template *templates; /* list by ->next (warm/template.h) */
	struct fh_seen *seen;          /* kinds of runs that came once and have no template yet */
	size_t parked_count;           /* sandboxes that wait in pools or are being made for one */

	/* used by serve/ */
	size_t making_count; /* runs whose sandbox is being made */
	size_t ending_count; /* runs whose result was sent while their sandbox is still being removed */
	struct fh_deferred *waiting, *waiting_last; /* runs that wait for their turn, oldest first (serve/queue.h) */
	size_t waiting_count;
	struct fh_timer waiting_timer;
};
