/* SPDX-License-Identifier: MIT */
/*
 * The members of envd's messages have types, as in proto3's JSON form: a member of another type is refused, not taken
 * for a missing one, which could mean another file. Source: protobuf.dev, "ProtoJSON Format".
 */
#pragma once
#include "e2b/common/connect.h"

/* Refuses members of the wrong type and texts with a zero byte, and turns whole numbers in quotation marks, which that
 * form allows, into numbers. null stands for a missing member; unknown members are passed over. */
int fh_fields_check(json_t *message, struct fh_connect_error *e);

/* Whether a text in a JSON value, on any level, has a zero byte, where it would end for most of its readers. The member
 * `except` of an object may: code and what a program reads are bytes. */
bool fh_fields_have_zero(const json_t *value, FH_NULLABLE const char *except);
