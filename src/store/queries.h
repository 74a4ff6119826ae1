/* SPDX-License-Identifier: MIT */
/* All SQL of the store. Values are always bound, never written into the text. */
#pragma once
#include "store/rows.h"

#define FH_STORE_APPLICATION 0x66756d65 /* "fume": marks the file as a store (PRAGMA application_id) */

/* Statements that migrate a store from version i to i + 1; their count is this program's version. */
extern const char *const fh_store_migrations[];
extern const size_t fh_store_version;

extern const char fh_q_version[], fh_q_application[], fh_q_tables[], fh_q_begin[], fh_q_commit[], fh_q_rollback[],
    fh_q_sync_never[], fh_q_sync_later[], fh_q_sync_now[];
extern const char fh_q_eval_add[], fh_q_eval_again[], fh_q_eval_end[], fh_q_eval_state[], fh_q_eval_number[];
extern const char fh_q_evals[], fh_q_evals_count[], fh_q_eval_find[], fh_q_eval_latest[], fh_q_any_latest[],
    fh_q_documents[];
extern const char fh_q_eval_vars[], fh_q_eval_delete[], fh_q_describe[];
extern const char fh_q_column_add[], fh_q_column_count[], fh_q_column_recount[], fh_q_columns[], fh_q_column_metrics[];
extern const char fh_q_column_drop_from[];
extern const char fh_q_cell_add[], fh_q_data_add[], fh_q_cell_drop[], fh_q_data_drop[], fh_q_cell_move[];
extern const char fh_q_cells_off[], fh_q_data_off[];
extern const char fh_q_cell[], fh_q_cells_of_row[], fh_q_cells_each[], fh_q_cells_each_small[], fh_q_cells_noted[],
    fh_q_rows_total[];
extern const char fh_q_facet_status[], fh_q_facet_language[], fh_q_facet_metrics[];
extern const char fh_q_facet_tags[], fh_q_facet_keys[], fh_q_facet_values[];
extern const char fh_q_rate[], fh_q_unrate[], fh_q_tag[], fh_q_untag[], fh_q_tags[], fh_q_tags_used[];
extern const char fh_q_wish[], fh_q_wished[];

struct fh_db_statement;
struct fh_db;
/* Queries for a page of rows: one returns (row), the other (count); and the cells that a filter selects, with data. */
int fh_q_rows(struct fh_db *db, int64_t eval, const struct fh_store_row_filter *f, const struct fh_store_page *p,
              struct fh_db_statement **ret, struct fh_error *err);
int fh_q_rows_count(struct fh_db *db, int64_t eval, const struct fh_store_row_filter *f, struct fh_db_statement **ret,
                    struct fh_error *err);
int fh_q_cells_matching(struct fh_db *db, int64_t eval, const struct fh_store_row_filter *f,
                        struct fh_db_statement **ret, struct fh_error *err);
