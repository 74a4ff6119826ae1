/* SPDX-License-Identifier: MIT */
/* What the viewer's handlers share: the context of each request. */
#pragma once
#include "view/jobs.h"
#include "view/stores.h"
#include "view/view.h"

struct fh_view {
	struct fh_view_guard guard;
	struct fh_view_stores stores;
	struct fh_view_jobs jobs;
};
