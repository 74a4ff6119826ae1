/* SPDX-License-Identifier: MIT */
/* The routes of the viewer's API, in a table for each file of handlers. The context of their requests is the struct
 * fh_view. */
#pragma once
#include "server/http.h"

/* For fh_http_route.flags. */
enum {
	FH_VIEW_OPEN =
	    1 /* no authorization, as the answer holds nothing of the store; scripts ask until the server answers */
};

extern const struct fh_http_route fh_view_about_routes[], fh_view_eval_routes[], fh_view_row_routes[];
extern const struct fh_http_route fh_view_event_routes[], fh_view_number_routes[], fh_view_compare_routes[];
extern const struct fh_http_route fh_view_task_routes[], fh_view_play_routes[], fh_view_promptfoo_routes[];
extern const struct fh_http_route fh_view_promptfoo_list_routes[], fh_view_promptfoo_refused_routes[];
extern const struct fh_http_route fh_view_report_routes[], fh_view_export_routes[], fh_view_job_routes[];
