/* SPDX-License-Identifier: MIT */
/*
 * The engine and who owns whom.
 *
 *     engine ── connections                    a client each; the first one keeps the engine alive
 *            └─ sandboxes ── processes ── streams
 *
 * A sandbox belongs to the engine; it *answers to* at most one connection, and to none once a lease has outlived it.
 * Streams send to a connection of their own, which an ATTACH changes. Everything runs on one event loop and nothing
 * blocks: what takes time is in the kernel (teardown), in the setup child, or in init.
 *
 * The rooms of src/engine, each of which knows those before it and none after it (tools/check-layers):
 *
 *     host    what this machine has: control groups, ids, network namespaces, the kernel's word on a process
 *     make    from a plan to an init: the set-up child, mounts, Landlock, seccomp, the holder
 *     core    sandboxes, processes and streams as they live, for whoever owns them (sandbox.h)
 *     warm    what is made ahead of a request: templates, zygotes, pools
 *     serve   what clients ask for: runs, groups, sessions, requests, and the program's main
 *
 * Where core has to call upwards it does so by a const table: struct fh_handler (serve), struct fh_owner (for whom a
 * sandbox is) and struct fh_origin (what it was made of).
 */
#pragma once
#include "engine/core/connection.h"
#include "engine/core/sandbox.h"
#include "engine/host/cgroup.h"
#include "engine/host/ids.h"
#include "engine/host/keeper.h"

enum {
	FH_SANDBOXES_MAX = 4096,
	FH_CONNECTIONS_MAX = 256,
};

/* What answers clients: fh_request_handler (serve/requests.c). */
struct fh_handler {
	/* One frame from a client. A negative code: the peer is out of order, the connection ends. */
	int (*on_frame)(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
	/* The connection is closed: nothing that waits for it is begun any more. */
	void (*on_close)(struct fh_engine *e, struct fh_connection *c);
	/* A connection, a sandbox or a template is gone: ends the engine, once nobody needs it. */
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
	struct fh_connection *main;   /* NULL once it is closed */
	struct fh_sandbox *sandboxes; /* list by ->next, newest first */
	size_t sandbox_count;
	struct fh_watch listener, service_listener, signals;
	struct fh_timer idle_timer; /* of a service */
	int64_t idle_ns, used_ns;   /* idle_ns 0: it stays */
	uint32_t next_token;        /* of messages to holders and zygotes */
	int spare;                  /* a descriptor that is given up to turn a client away when there are no others */
	struct fh_keeper keeper;
	bool leaving;    /* a signal asked us to end */
	bool fresh_only; /* makes nothing ahead */
	bool service;    /* kept for separate clients: it lives without any, and warms up at the first run of a kind */

	/* of warm/ */
	struct fh_template *templates; /* list by ->next (warm/template.h) */
	struct fh_seen *seen;          /* kinds of runs, until they have a template */
	size_t parked_count;           /* sandboxes that wait in pools, or are made for one */

	/* of serve/ */
	size_t making_count;                        /* runs whose sandbox is being made */
	size_t ending_count;                        /* runs that were answered while their sandbox ends */
	struct fh_deferred *waiting, *waiting_last; /* runs that wait for their turn, the first first (serve/queue.h) */
	size_t waiting_count;
	struct fh_timer waiting_timer;
};
