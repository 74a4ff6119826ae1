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
