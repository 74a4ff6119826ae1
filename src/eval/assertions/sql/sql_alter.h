/* SPDX-License-Identifier: MIT */
/* ALTER TABLE, of which SQLite's parser knows little and each database has its own. */
#pragma once
#include "base/base.h"

/*
 * The statements without those ALTER TABLEs that the databases have, bits of sql_database.h. An ALTER TABLE that is
 * left is none of theirs. free() the text.
 */
FH_OWN char *fh_sql_without_alters(const char *sql, unsigned databases);
