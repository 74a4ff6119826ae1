/* SPDX-License-Identifier: MIT */
/*
 * A provider in Go: golang:x.go[:Function], or file://x.go. The user's file and a main() of ours are built into one
 * program, once for an eval, for the first call; each call runs it. Nothing is written into the user's module: `go
 * build -overlay` takes our files as if they were in it. What the program prints is not its answer; that follows a word
 * which is drawn for each build.
 */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/fd.h"
#include "base/path.h"
#include "base/text/uuid.h"
#include "provider/exec.h"
#include "provider/type.h"

#define BUILD_MS 600000 /* also for downloads of modules, the first time */
#define SAID_MAX ((size_t)1 << 20)

/* Beside the user's package main: its file is one of the program's two. Any other package is imported. */
static const char main_source[] =
    "package main\n"
    "\n"
    "import (\n"
    "\t\"encoding/json\"\n"
    "\t\"fmt\"\n"
    "\t\"os\"\n"
    "\t\"reflect\"\n"
    "%s"
    ")\n"
    "\n"
    "func fumehoodArgument(i int) any {\n"
    "\tvar value any\n"
    "\tif err := json.Unmarshal([]byte(os.Args[i]), &value); err != nil {\n"
    "\t\tpanic(err)\n"
    "\t}\n"
    "\treturn value\n"
    "}\n"
    "\n"
    "func main() {\n"
    "\targs := []reflect.Value{reflect.ValueOf(os.Args[2]), reflect.ValueOf(fumehoodArgument(3)), "
    "reflect.ValueOf(fumehoodArgument(4))}\n"
    "\tresults := reflect.ValueOf(%s%s).Call(args)\n"
    "\tvar answer any = results[0].Interface()\n"
    "\tif failed := results[1]; !failed.IsNil() {\n"
    "\t\tanswer = map[string]any{\"error\": fmt.Sprintf(\"Go error: %%v\", failed.Interface())}\n"
    "\t}\n"
    "\ttext, err := json.Marshal(answer)\n"
    "\tif err != nil {\n"
    "\t\tpanic(err)\n"
    "\t}\n"
    "\tfmt.Printf(\"\\n%%s%%s\\n\", os.Args[1], text)\n"
    "}\n";

/* One build at a time: those of several providers compile the same packages, which go's cache then has. */
static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER;

struct golang {
	char *folder, *file; /* of the source: absolute, and the name in it */
	char *function, *go;
	bool built;
	char *failed;            /* why it could not be built; NULL: it was, or nobody asked yet */
	char *place, *program;   /* our folder for what is built */
	char word[FH_UUID_SIZE]; /* before an answer */
};

static void golang_free(struct fh_provider *p)
{
	static const char *const made[] = { "program", "main.go", "overlay.json" };
	struct golang *g = p->state;
	if (!g)
		return;
	for (size_t i = 0; g->place && i < FH_ARRAY_SIZE(made); i++) {
		fh_auto_free char *path = fh_path_join(g->place, made[i]);
		unlink(path);
	}
	if (g->place)
		rmdir(g->place);
	char *const all[] = { g->folder, g->file, g->function, g->go, g->failed, g->place, g->program };
	for (size_t i = 0; i < FH_ARRAY_SIZE(all); i++)
		free(all[i]);
	free(g);
}

/* ------------------------------------------------------------------------------------------------------------ open */

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

static bool is_in_module(const char *folder)
{
	fh_auto_free char *at = fh_xstrdup(folder);
	for (;;) {
		fh_auto_free char *mod = fh_path_join(at, "go.mod");
		if (fh_path_exists(mod))
			return true;
		char *slash = strrchr(at, '/');
		if (!slash || slash == at)
			return false;
		*slash = 0;
	}
}

static int golang_open(struct fh_provider *p, struct fh_error *err)
{
	struct golang *g = FH_NEW(struct golang);
	p->state = g;
	fh_uuid(g->word);
	const char *end = strstr(p->target, ".go");
	end = end ? end + strlen(".go") : p->target + strlen(p->target);
	fh_auto_free char *name = fh_xstrndup(p->target, (size_t)(end - p->target));
	fh_auto_free char *path = fh_path_join(p->base_dir, name);
	char real[PATH_MAX];
	if (!realpath(path, real)) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: there is no file %s", p->id, path);
		fh_error_hint(err, "paths are relative to the folder of the config");
		return -FH_E_CONFIG;
	}
	g->file = fh_xstrdup(fh_path_base(real));
	g->folder = fh_xstrndup(real, strlen(real) - strlen(g->file) - 1);
	const char *function = *end == ':' ? end + 1 : "CallApi";
	g->function = fh_xstrdup(fh_streq(function, "call_api") ? "CallApi" : function);
	g->go = fh_xstrdup(fh_json_str(p->config, "goExecutable", "go"));
	if (!is_identifier(g->function))
		return fh_error_set(err, FH_E_CONFIG, "provider %s: \"%s\" is no name of a function in Go", p->id, g->function);
	if (!is_in_module(g->folder)) {
		fh_error_set(err, FH_E_CONFIG, "provider %s: no go.mod in %s or a folder above it", p->id, g->folder);
		fh_error_hint(err, "`go mod init NAME` makes one");
		return -FH_E_CONFIG;
	}
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- build */

/* Runs go in the source's folder. FH_E_CONFIG, with what it said, when it fails. */
static int run_go(const struct fh_provider *p, const char *const *argv, struct fh_buf *out, struct fh_error *err)
{
	const struct golang *g = p->state;
	fh_auto_free const char **env = fh_provider_script_env(p);
	fh_auto_buf struct fh_buf said = FH_BUF_INIT(SAID_MAX);
	struct fh_proc_options o = { .argv = argv,
		                         .env = env,
		                         .cwd = g->folder,
		                         .stdio = { FH_STDIO_NULL, FH_STDIO_PIPE, FH_STDIO_PIPE },
		                         .own_group = true };
	int status = 0;
	int r = fh_exec_run(&o, p->cancel, BUILD_MS, out, &said, &status, err);
	if (r < 0 || status == 0)
		return r;
	return fh_error_set(err, FH_E_CONFIG, "go %s: %.*s", argv[1], (int)FH_MIN(said.n, (size_t)2000),
	                    fh_buf_cstr(&said));
}

static int write_file(const char *folder, const char *name, struct fh_str text, char **ret_path, struct fh_error *err)
{
	*ret_path = fh_path_join(folder, name);
	return fh_file_write_atomic(*ret_path, text.p, text.n, 0600, err);
}

/* The name of the package and the path to import it by. */
static int package_of(const struct fh_provider *p, char **ret_name, char **ret_import, struct fh_error *err)
{
	const struct golang *g = p->state;
	const char *const argv[] = { g->go, "list", "-f", "{{.Name}} {{.ImportPath}}", ".", NULL };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(SAID_MAX);
	int r = run_go(p, argv, &out, err);
	if (r < 0)
		return r;
	const char *text = fh_buf_cstr(&out);
	size_t n = strcspn(text, " ");
	*ret_name = fh_xstrndup(text, n);
	*ret_import = text[n] ? fh_xstrndup(text + n + 1, strcspn(text + n + 1, "\n")) : fh_xstrdup("");
	return 0;
}

static int build(const struct fh_provider *p, struct golang *g, struct fh_error *err)
{
	fh_auto_free char *package = NULL, *import = NULL, *source = NULL, *overlay = NULL, *line = NULL;
	const char *tmp = getenv("TMPDIR");
	fh_auto_free char *place = fh_path_join(tmp && *tmp ? tmp : "/tmp", "fumehood-go-XXXXXX");
	if (!mkdtemp(place))
		return fh_error_sys(err, errno, "cannot make a folder like %s", place);
	g->place = FH_TAKE_PTR(place);
	int r = package_of(p, &package, &import, err);
	if (r < 0)
		return r;
	bool is_main = fh_streq(package, "main");
	/* Not in the folder of a package of another name, but below it, where it may import what is internal there. */
	const char *ours = is_main ? "fumehood_provider_main.go" : "fumehood_provider_main/main.go";
	line = is_main ? fh_xstrdup("") : fh_xasprintf("\tprovider \"%s\"\n", import);
	fh_auto_free char *text = fh_xasprintf(main_source, line, is_main ? "" : "provider.", g->function);
	r = write_file(g->place, "main.go", fh_str(text), &source, err);
	if (r < 0)
		return r;
	fh_auto_free char *as = fh_path_join(g->folder, ours);
	fh_auto_json json_t *replace = json_pack("{s:{s:s}}", "Replace", as, source);
	fh_auto_free char *json = fh_json_text(replace, 0);
	r = write_file(g->place, "overlay.json", fh_str(json), &overlay, err);
	if (r < 0)
		return r;
	g->program = fh_path_join(g->place, "program");
	const char *const argv[] = { g->go, "build", "-overlay", overlay, "-o", g->program, ours, is_main ? g->file : NULL,
		                         NULL };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(SAID_MAX);
	return run_go(p, argv, &out, err);
}

/* Builds the program for the first call. *ret_failed: why there is none. */
static int program_of(const struct fh_provider *p, struct golang *g, const char **ret_failed, struct fh_error *err)
{
	struct fh_error why = FH_ERROR_INIT;
	pthread_mutex_lock(&building);
	int r = g->built || g->failed ? 0 : build(p, g, &why);
	g->built = g->built || (r == 0 && !g->failed);
	if (r < 0 && r != -FH_E_CANCELLED)
		g->failed = fh_xasprintf("the provider cannot be built: %s", why.message);
	*ret_failed = g->failed;
	pthread_mutex_unlock(&building);
	return r == -FH_E_CANCELLED ? fh_error_set(err, FH_E_CANCELLED, "cancelled") : 0;
}

/* ------------------------------------------------------------------------------------------------------------ call */

/* The answer in what the program printed: the line behind the last of our words. */
static void take_answer(const struct golang *g, struct fh_provider_response *ret)
{
	const char *found = NULL, *text = json_string_value(ret->raw);
	for (const char *at = text ? strstr(text, g->word) : NULL; at; at = strstr(at + 1, g->word))
		found = at + strlen(g->word);
	fh_auto_json json_t *value =
	    found ? fh_json_parse((struct fh_str){ found, strcspn(found, "\n") }, NULL, NULL) : NULL;
	json_decref(ret->output);
	json_decref(ret->raw);
	ret->output = ret->raw = NULL;
	if (json_is_object(value))
		fh_provider_take_result(g->function, g->file, "a map", "output", value, ret);
	else
		fh_response_fail(ret, "%s of %s ended the program before it returned", g->function, g->file);
}

static int golang_call(struct fh_provider *p, const struct fh_provider_request *request,
                       struct fh_provider_response *ret, struct fh_error *err)
{
	struct golang *g = p->state;
	const char *failed = NULL;
	int r = program_of(p, g, &failed, err);
	if (r < 0)
		return r;
	if (failed) {
		fh_response_fail(ret, "%s", failed);
		return 0;
	}
	const char *const words[] = { g->program, g->word, NULL };
	r = fh_exec_call_words(p, words, request, ret, err);
	if (r == 0 && !ret->error)
		take_answer(g, ret);
	return r;
}

static const char *const golang_prefixes[] = { "golang:", "file://", NULL };
static const char *const golang_suffixes[] = { ".go", NULL };

const struct fh_provider_type fh_provider_golang = {
	.name = "golang",
	.prefixes = golang_prefixes,
	.suffixes = golang_suffixes,
	.open = golang_open,
	.call = golang_call,
	.free = golang_free,
};
