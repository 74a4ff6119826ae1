/* SPDX-License-Identifier: MIT */
/* State shared by the viewer's handlers: the context of each request. */
#pragma once
#include "view/guard.h"
#include "view/jobs.h"
#include "view/stores.h"

struct fh_view {
	struct fh_view_guard guard;
	struct fh_view_stores stores;
	struct fh_view_jobs jobs;
};
