/* SPDX-License-Identifier: MIT */
/* `fumehood mcp`: reads the options, then executes the server, which is part of the Python package
 * (python/fumehood/mcp). */
#include "cli/shared/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/host/data.h"
#include "base/path.h"
#include "cli/run/run_inputs.h"
#include "cli/shared/options.h"
#include "json/json.h"

/* The first lines that Python runs: it imports our package from the given path, and nothing from the current folder. */
#define START                                                                                                          \
	"import sys\n"                                                                                                     \
	"if sys.version_info < (3, 8): sys.exit('fumehood: mcp needs Python 3.8 or later')\n"                              \
	"sys.path.insert(0, sys.argv.pop(1))\n"                                                                            \
	"from fumehood.mcp import main\n"                                                                                  \
	"sys.exit(main())\n"

static bool http, packages, quiet, port_given;
static uint64_t port, sessions, running, waiting, processes, memory, disk, output, cpu_ms, wall_ms, idle_ms;
static const char *address, *token_file, *tls_certificate, *tls_key;
static struct fh_opt_list mounts, origins;

static const struct fh_opt options[] = {
	{ "http", 0, FH_OPT_FLAG, &http, NULL,
	  "Serve streamable HTTP at http://ADDRESS:PORT/mcp; otherwise stdin and stdout." },
	{ "port", 'p', FH_OPT_U64, &port, "N", "The port to listen at; 0: any free port.", 0, &port_given,
	  .default_text = "8000" },
	{ "address", 0, FH_OPT_STRING, &address, "ADDRESS",
	  "The address to listen at. Addresses other than loopback ones need --token-file.", .default_text = "127.0.0.1" },
	{ "token-file", 0, FH_OPT_STRING, &token_file, "FILE",
	  "A file (mode 0600) with a token of 16 characters or more: only clients that send it as `Authorization: Bearer` "
	  "may use the server." },
	{ "allow-origin", 0, FH_OPT_LIST, &origins, "ORIGIN",
	  "A web page that may use the server, such as https://example.com; pages of localhost always may." },
	{ "tls-certificate", 0, FH_OPT_STRING, &tls_certificate, "FILE", "Speak TLS with this certificate chain (PEM)." },
	{ "tls-key", 0, FH_OPT_STRING, &tls_key, "FILE", "The certificate's private key (PEM)." },
	{ "quiet", 'q', FH_OPT_FLAG, &quiet, NULL, "Do not say where the server listens." },
	{ "", .help = "What the agent may use" },
	{ "mount", 0, FH_OPT_LIST, &mounts, "SRC[:DST][:rw]",
	  "Show a folder of this machine in every sandbox, read-only unless :rw is given." },
	{ "packages", 0, FH_OPT_FLAG, &packages, NULL,
	  "Sessions may have packages, which your own pip and npm fetch with your settings." },
	{ "", .help = "Ceilings, whatever the agent asks for; \"unlimited\" removes one" },
	{ "max-sessions", 0, FH_OPT_U64, &sessions, "N", "Sessions open at once, for all clients together.",
	  .default_text = "16" },
	{ "max-running", 0, FH_OPT_U64, &running, "N",
	  "Calls that run code, open a session or install at once, for all clients "
	  "together.",
	  .default_text = "16" },
	{ "max-waiting", 0, FH_OPT_U64, &waiting, "N", "Such calls that wait until others end; further ones are refused.",
	  .default_text = "128" },
	{ "max-memory", 0, FH_OPT_SIZE, &memory, "SIZE", "Memory of one sandbox.", FH_OPT_UNLIMITED, .default_text = "1G" },
	{ "max-disk", 0, FH_OPT_SIZE, &disk, "SIZE", "Bytes that one sandbox may write.", FH_OPT_UNLIMITED,
	  .default_text = "1G" },
	{ "max-processes", 0, FH_OPT_U64, &processes, "N", "Processes and threads of one sandbox.", FH_OPT_UNLIMITED,
	  .default_text = "256" },
	{ "max-output", 0, FH_OPT_SIZE, &output, "SIZE", "Output of one call, each of stdout and stderr.",
	  .default_text = "256K" },
	{ "max-cpu-time", 0, FH_OPT_DURATION, &cpu_ms, "SECONDS", "CPU time of one program.", FH_OPT_UNLIMITED,
	  .default_text = "60" },
	{ "max-wall-time", 0, FH_OPT_DURATION, &wall_ms, "SECONDS", "How long one call may take.", FH_OPT_UNLIMITED,
	  .default_text = "120" },
	{ "max-idle", 0, FH_OPT_DURATION, &idle_ms, "SECONDS", "A session that was not used for this long is closed.",
	  .default_text = "1h" },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood mcp",
	.synopsis = "[OPTIONS]",
	.about =
	    "Serves sandboxes to agents by the Model Context Protocol (2024-11-05 to 2026-07-28): tools that run code, "
	    "keep sessions with files and variables, and bring figures back. Needs Python 3.8 and nothing else.",
	.details = "Examples:\n"
	           "  {\"mcpServers\": {\"fumehood\": {\"command\": \"fumehood\", \"args\": [\"mcp\"]}}}\n"
	           "  fumehood mcp --http --port 8000\n"
	           "\n"
	           "Exit status: 0 when the client disconnected or the server was told to stop, 1 when it could not serve, "
	           "2 for a "
	           "wrong command "
	           "line.",
	.options = options,
};

/* ---------------------------------------------------------------------------------------------------- the options */

static json_t *bounded(uint64_t value, double unit)
{
	if (value == UINT64_MAX)
		return json_null();
	return unit == 1 ? json_integer((json_int_t)value) : json_real((double)value / unit);
}

static json_t *mount_list(const struct fh_run_inputs *in)
{
	json_t *list = json_array();
	for (size_t i = 0; i < in->mount_count; i++) {
		const struct fh_mount *m = &in->mounts[i];
		json_array_append_new(
		    list, json_pack("[s, s, s]", m->source, m->target ? m->target : m->source, m->writable ? "rw" : "ro"));
	}
	return list;
}

static json_t *http_options(void)
{
	json_t *o = json_object(), *list = json_array();
	for (size_t i = 0; i < origins.count; i++)
		json_array_append_new(list, json_string(origins.items[i]));
	json_object_set_new(o, "address", json_string(address));
	json_object_set_new(o, "port", json_integer((json_int_t)port));
	json_object_set_new(o, "origins", list);
	json_object_set_new(o, "quiet", json_boolean(quiet));
	if (token_file)
		json_object_set_new(o, "token_file", json_string(token_file));
	if (tls_certificate) {
		json_object_set_new(o, "tls_certificate", json_string(tls_certificate));
		json_object_set_new(o, "tls_key", json_string(tls_key));
	}
	return o;
}

static int check_mounts(const struct fh_run_inputs *in, struct fh_error *err)
{
	for (size_t i = 0; i < in->mount_count; i++)
		if (!fh_path_exists(in->mounts[i].source))
			return fh_error_set(err, FH_E_ARGUMENT, "option --mount: %s is not there", in->mounts[i].source);
	return 0;
}

static int check(struct fh_error *err)
{
	if (!http && (port_given || token_file || tls_certificate || tls_key || origins.count)) {
		fh_error_set(err, FH_E_ARGUMENT, "--port, --token-file, --allow-origin and --tls-… belong to --http");
		fh_error_hint(err, "add --http");
		return -FH_E_ARGUMENT;
	}
	if (port > UINT16_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "--port must be from 0 to 65535");
	if (!tls_certificate != !tls_key)
		return fh_error_set(err, FH_E_ARGUMENT, "--tls-certificate and --tls-key must be given together");
	if (sessions == 0 || running == 0 || output == 0 || idle_ms == 0)
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "--max-sessions, --max-running, --max-output and --max-idle must be more than 0");
	return 0;
}

static char *settings(const struct fh_run_inputs *in)
{
	fh_auto_json json_t *o = json_object();
	json_object_set_new(o, "sessions", json_integer((json_int_t)sessions));
	json_object_set_new(o, "running", json_integer((json_int_t)running));
	json_object_set_new(o, "waiting", json_integer((json_int_t)waiting));
	json_object_set_new(o, "memory", bounded(memory, 1));
	json_object_set_new(o, "disk", bounded(disk, 1));
	json_object_set_new(o, "processes", bounded(processes, 1));
	json_object_set_new(o, "output", bounded(output, 1));
	json_object_set_new(o, "cpu_time", bounded(cpu_ms, 1000));
	json_object_set_new(o, "wall_time", bounded(wall_ms, 1000));
	json_object_set_new(o, "idle", bounded(idle_ms, 1000));
	json_object_set_new(o, "packages", json_boolean(packages));
	json_object_set_new(o, "mounts", mount_list(in));
	if (http)
		json_object_set_new(o, "http", http_options());
	return fh_json_text(o, 0);
}

/* ----------------------------------------------------------------------------------------------------- the server */

/* Executes the server; returns only on failure. Debian's own Python is preferred: a python3 on PATH may be a script
 * that starts another one. */
static int become_server(const char *package, char *given, struct fh_error *err)
{
	static char debian[] = "/usr/bin/python3", path[] = "python3";
	char *const pythons[] = { debian, path };
	fh_auto_free char *folder = fh_path_dir(package);
	fh_auto_free char *self = fh_path_self_dir();
	fh_auto_free char *program = self ? fh_path_join(self, "fumehood") : NULL;
	char isolated[] = "-I", command[] = "-c", start[] = START;
	if (program)
		(void)setenv("FUMEHOOD_PROGRAM", program, 0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(pythons); i++) {
		char *const argv[] = { pythons[i], isolated, command, start, folder, given, NULL };
		execvp(pythons[i], argv);
	}
	fh_error_sys(err, errno, "cannot start python3");
	fh_error_hint(err, "the server is written in Python: install the package python3");
	return -FH_E_SYSTEM;
}

int fh_command_mcp(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	const struct fh_opt_list none = { 0 };
	struct fh_run_inputs in = { 0 };
	fh_auto_free char *package = NULL;
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	if (check(&err) < 0 || fh_run_inputs_read(&none, &mounts, &none, &in, &err) < 0 || check_mounts(&in, &err) < 0) {
		fh_run_inputs_release(&in);
		return fh_command_failed(&err, FH_EXIT_USAGE);
	}
	if (fh_data_path("python/fumehood", &package, &err) == 0) {
		fh_auto_free char *given = settings(&in);
		(void)become_server(package, given, &err);
	}
	fh_run_inputs_release(&in);
	return fh_command_failed(&err, FH_EXIT_FAILED);
}
