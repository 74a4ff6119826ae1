/* SPDX-License-Identifier: MIT */
/* Puts a run into the store, which `fumehood run --keep` writes to standard input (cli/run/run_keep.h). */
#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "fumehood/sandbox.h"
#include "store/writer.h"

static int begin(const json_t *head, const char *id, struct fh_store_writer **ret, struct fh_error *err)
{
	const char *language = fh_json_str(head, "language", "");
	fh_auto_json json_t *options =
	    json_pack("{s:O?, s:O?}", "argv", json_object_get(head, "argv"), "cwd", json_object_get(head, "cwd"));
	fh_auto_json json_t *columns = json_pack("[{s:s, s:s, s:s, s:s}]", "provider", *language ? language : "command",
	                                         "label", fh_json_str(head, "name", ""), "raw", "", "id", "run");
	fh_auto_json json_t *config = json_pack("{s:s}", "fumehood", fh_version());
	return fh_store_writer_begin(&(struct fh_store_begin){ .id = id,
	                                                       .kind = FH_STORE_RUN,
	                                                       .description = fh_json_str(head, "description", ""),
	                                                       .created_ms = fh_json_int(head, "created_ms", 0),
	                                                       .total = 1,
	                                                       .rows = 1,
	                                                       .config = config,
	                                                       .options = options,
	                                                       .columns = columns },
	                             ret, err);
}

static int keep(const json_t *head, struct fh_str data, struct fh_error *err)
{
	char id[64];
	struct fh_store_writer *w = NULL;
	bool success = fh_json_bool(head, "success", false);
	const struct fh_row row = { .success = success,
		                        .failure = (enum fh_failure)fh_json_int(head, "failure", 0),
		                        .score = success,
		                        .latency_ms = fh_json_num(head, "latency_ms", 0),
		                        .status = fh_json_str(head, "status", ""),
		                        .language = fh_json_str(head, "language", ""),
		                        .text = data };
	fh_store_id_make(FH_STORE_RUN, fh_json_int(head, "created_ms", 0), id);
	int r = begin(head, id, &w, err);
	if (r == 0) {
		r = fh_store_writer_row(w, &row, err);
		if (r == 0)
			r = fh_store_writer_end(w, &(struct fh_sink_end){ true, fh_json_int(head, "duration_ms", 0), NULL, NULL },
			                        err);
		else
			fh_store_writer_close(w);
	}
	if (r == 0)
		fh_print_line(id);
	return r;
}

int fh_store_command_keep(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	int r = fh_read_all(STDIN_FILENO, &text);
	if (r < 0)
		fh_error_sys(&err, errno, "cannot read the run that is to be kept");
	const char *end = r < 0 ? NULL : memchr(text.p, '\n', text.n);
	fh_auto_json json_t *head =
	    end ? fh_json_parse((struct fh_str){ text.p, (size_t)(end - text.p) }, NULL, NULL) : NULL;
	if (r == 0 && !json_is_object(head))
		r = fh_error_set(&err, FH_E_PROTOCOL, "this is not a run as `fumehood run --keep` passes it");
	if (r == 0)
		r = keep(head, (struct fh_str){ end + 1, text.n - (size_t)(end + 1 - text.p) }, &err);
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
