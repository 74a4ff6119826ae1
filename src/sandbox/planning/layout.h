/* SPDX-License-Identifier: MIT */
/* The file system that a program sees: the mounts of a plan before the request's own are added. */
#pragma once
#include "proto/plan.h"
#include "survey/survey.h"

/* The default image: the host's programs, read-only, from an explicit list; generated files of /etc that name no user
 * of the host; private /proc, /dev, /tmp and home. What is found on the machine of this process is cached for a second
 * within the process. */
void fh_layout_host(struct fh_plan *plan, struct fh_survey *s);
/* An image: the folder plan->image as root, with the sandbox's user added to its passwd and group. */
int fh_layout_image(struct fh_plan *plan, struct fh_survey *s, struct fh_error *err);

/* The home of the plan's user: "/home/user" or "/root". */
const char *fh_layout_home(const struct fh_plan *plan);

/* Covers the folders that match the patterns, at their paths inside. {prefix} in a pattern stands for each of
 * `prefixes`. Paths in `keep` stay visible within a covered folder. */
void fh_layout_hide(struct fh_plan *plan, struct fh_survey *s, char *const *patterns, char *const *keep,
                    char *const *prefixes);
