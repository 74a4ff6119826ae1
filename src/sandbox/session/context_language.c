/* SPDX-License-Identifier: MIT */
/* The languages of code contexts. */
#include <stdatomic.h>
#include <strings.h>

#include "base/host/data.h"
#include "base/error.h"
#include "base/fd.h"
#include "sandbox/session/context.h"

enum { FILES_MAX = 4 << 20 };

/* The interpreter reads its driver from stdin: no file of ours is in the sandbox, where code could change it for the
 * next context. The code's folder is not searched for modules until the driver is loaded. JSON is read as in python.py,
 * without the module json where that can be. */
#define PYTHON_BEGIN                                                                                                   \
	"import sys\n"                                                                                                     \
	"sys.path.pop(0)\n"                                                                                                \
	"import os\n"                                                                                                      \
	"b=[]\n"                                                                                                           \
	"while not b or b[-1][-1:]!=b'\\n':\n"                                                                             \
	"    b.append(os.read(0,1<<20))\n"                                                                                 \
	"    if not b[-1]: raise SystemExit\n"                                                                             \
	"b=b''.join(b).decode()\n"                                                                                         \
	"class J: "                                                                                                        \
	"strict,object_hook,object_pairs_hook,parse_float,parse_int,parse_constant=True,None,None,float,int,float\n"       \
	"try:\n"                                                                                                           \
	"    from _json import make_scanner\n"                                                                             \
	"    f=make_scanner(J)(b,0)[0]\n"                                                                                  \
	"except (ImportError,TypeError):\n"                                                                                \
	"    import json\n"                                                                                                \
	"    f=json.loads(b)\n"                                                                                            \
	"exec(compile(f['python.py'],'<fumehood context>','exec'),{'__name__':'fumehood_context','FILES':f})\n"

#define NODE_BEGIN                                                                                                     \
	"{const fs=require('fs'),b=[];"                                                                                    \
	"for(;;){const c=Buffer.alloc(1<<16),n=fs.readSync(3,c);if(!n)process.exit();b.push(c.subarray(0,n));"             \
	"if(c[n-1]===10)break}"                                                                                            \
	"const f=JSON.parse(Buffer.concat(b));new Function('require','FILES',f['javascript.js'])(require,f)}"

/* An interactive shell follows, whose own output is hidden: an interrupt ends what runs in it, and not the shell. */
#define BASH_BEGIN                                                                                                     \
	"exec 60<&3 61>&4 62>&2 3<&- 4>&-\n"                                                                               \
	"IFS= read -r -u 60 l\n"                                                                                           \
	"l=${l#\\{\\\"bash.sh\\\":\\\"}\n"                                                                                 \
	"d=${l%%\\\",\\\"options\\\":*}\n"                                                                                 \
	"d=${d//\\\\\\\\/$'\\1'} d=${d//\\\\\\\"/\\\"} d=${d//$'\\1'/\\\\\\\\}\n"                                          \
	"printf -v __fh_driver %b \"$d\"\n"                                                                                \
	"__fh_options=${l##*\\\",\\\"options\\\":}\n"                                                                      \
	"export __fh_driver __fh_options\n"                                                                                \
	"exec \"$BASH\" --norc --noprofile --noediting -i +m 2>/dev/null < <(trap '' INT; exec 60<&- 61>&- 62>&-\n"        \
	"echo 'eval \"$__fh_driver\"'; while echo 'eval \"$__fh_step\"'; do :; done)"

#define R_BEGIN                                                                                                        \
	"local({q<-fifo('/dev/fd/3','rb',blocking=TRUE);b<-raw();while(!length(b)||b[length(b)]!=10L){"                    \
	"p<-readBin(q,'raw',65536L);if(!length(p))quit('no');b<-c(b,p)};"                                                  \
	"l<-rawToChar(b);Encoding(l)<-'UTF-8';i<-regexpr('\",\"options\":',l,fixed=TRUE);"                                 \
	"e<-new.env(parent=baseenv());e$requests<-q;e$options_text<-substring(l,i+12L);"                                   \
	"eval(parse(text=eval(parse(text=substr(l,8L,i))),keep.source=FALSE),e)})"

static const struct fh_context_kind kinds[] = {
	{
	    .name = "python",
	    .aliases = (const char *const[]){ "py", "python3", "ipython", NULL },
	    .argv = (const char *const[]){ "python3", "-c", PYTHON_BEGIN, NULL },
	    .files = (const char *const[]){ "python.py", "python_wire.py", "python_ipython.py", "python_shell.py",
	                                    "python_modules.py", "python_magics.py", "python_display.py",
	                                    "python_pretty.py", "python_rich.py", "python_inline.py", "python_pictures.py",
	                                    "python_charts.py", "python_charts_plotly.py", "python_branch.py",
	                                    "python_state.py", "python_adopt.py", "python_autoreload.py", NULL },
	    .package = "python3",
	    .adopts = true,
	},
	{
	    .name = "javascript",
	    .aliases = (const char *const[]){ "js", "node", NULL },
	    .argv = (const char *const[]){ "node", "-e", NODE_BEGIN, NULL },
	    .files = (const char *const[]){ "javascript.js", NULL },
	    .package = "nodejs",
	    .relay = true,
	    .cannot_branch = "Node has threads, which a fork leaves behind",
	},
	{
	    .name = "typescript",
	    .aliases = (const char *const[]){ "ts", "tslab", NULL },
	    .argv = (const char *const[]){ "node", "-e", NODE_BEGIN, NULL },
	    .files = (const char *const[]){ "javascript.js", NULL },
	    .package = "nodejs",
	    .relay = true,
	    .cannot_branch = "Node has threads, which a fork leaves behind",
	},
	{
	    /* Node, with the few names of Deno that cells use */
	    .name = "deno",
	    .aliases = (const char *const[]){ NULL },
	    .argv = (const char *const[]){ "node", "-e", NODE_BEGIN, NULL },
	    .files = (const char *const[]){ "javascript.js", "javascript_deno.js", NULL },
	    .package = "nodejs",
	    .relay = true,
	    .cannot_branch = "Node has threads, which a fork leaves behind",
	},
	{
	    .name = "bash",
	    .aliases = (const char *const[]){ "sh", "shell", NULL },
	    .argv = (const char *const[]){ "bash", "-c", BASH_BEGIN, NULL },
	    .files = (const char *const[]){ "bash.sh", NULL },
	    .package = "bash",
	    .relay = true,
	    .cannot_branch = "its driver reads its steps from a process that a fork would share with it",
	    .may_end = "Under `set -e`, a variable that is not set (`set -u`, ${x:?}) or constant ends the whole shell; "
	               "( set -e; … ) ends only what is in the brackets",
	},
	{
	    .name = "r",
	    .aliases = (const char *const[]){ "rscript", NULL },
	    .argv = (const char *const[]){ "R", "--no-echo", "--no-restore", "--no-save", "-e", R_BEGIN, NULL },
	    .files = (const char *const[]){ "r.R", NULL },
	    .package = "r-base-core",
	    .relay = true,
	    .cannot_branch = "R's own connections, by which its driver works, would be shared with it",
	},
	{
	    .name = "java",
	    .aliases = (const char *const[]){ "jshell", NULL },
	    .argv = (const char *const[]){ "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
	                                   "--add-opens", "java.base/java.util=ALL-UNNAMED", FH_CONTEXT_PROGRAM,
	                                   FH_CONTEXT_PROGRAM, NULL },
	    .files = (const char *const[]){ NULL },
	    .program = "java.java",
	    .package = "default-jdk-headless",
	    .relay = true,
	    .cannot_branch = "a Java virtual machine has threads, which a fork leaves behind",
	},
};

const char *fh_context_language_name(size_t i)
{
	return i < FH_ARRAY_SIZE(kinds) ? kinds[i].name : NULL;
}

static bool is_called(const struct fh_context_kind *kind, const char *name)
{
	if (strcasecmp(kind->name, name) == 0)
		return true;
	for (const char *const *alias = kind->aliases; *alias; alias++)
		if (strcasecmp(*alias, name) == 0)
			return true;
	return false;
}

const char *fh_context_language_find(const char *word)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
		if (is_called(&kinds[i], word))
			return kinds[i].name;
	return NULL;
}

int fh_context_kind_find(const char *name, const struct fh_context_kind **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf known = FH_BUF_INIT(256);
	for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++) {
		if (is_called(&kinds[i], name)) {
			*ret = &kinds[i];
			return 0;
		}
		(void)fh_buf_addf(&known, "%s%s", i ? ", " : "", kinds[i].name);
	}
	int r = fh_error_set(err, FH_E_NOT_FOUND, "there are no code contexts in %.64s", name);
	fh_error_hint(err, "there are contexts in %s", fh_buf_cstr(&known));
	return r;
}

int fh_context_file(const char *name, struct fh_buf *ret, struct fh_error *err)
{
	fh_auto_free char *path = NULL, *data_name = fh_xasprintf("guest/context/%s", name);
	int r = fh_data_path(data_name, &path, err);
	return r < 0 ? r : fh_file_read(path, ret, err);
}

static int add_file(const char *name, struct fh_buf *to, struct fh_error *err)
{
	fh_auto_buf struct fh_buf content = FH_BUF_INIT(1 << 20);
	int r = fh_context_file(name, &content, err);
	if (r < 0)
		return r;
	fh_json_write_string(to, fh_str(name));
	(void)fh_buf_addc(to, ':');
	fh_json_write_string(to, fh_buf_str(&content));
	(void)fh_buf_addc(to, ',');
	return 0;
}

/* The members of the files of a kind. They are read once: a hundred calls of the kernel's for each context, otherwise,
 * and what is installed meanwhile would belong to another version than this program does. No lock, which a fork could
 * leave behind: of two threads that read them, one drops what it has. */
static int files_of(const struct fh_context_kind *kind, const char **ret, struct fh_error *err)
{
	static _Atomic(char *) texts[FH_ARRAY_SIZE(kinds)];
	_Atomic(char *) *text = &texts[kind - kinds];
	char *found = atomic_load(text), *expected = NULL;
	fh_auto_buf struct fh_buf members = FH_BUF_INIT(FILES_MAX);
	for (const char *const *file = kind->files; !found && *file; file++) {
		int r = add_file(*file, &members, err);
		if (r < 0)
			return r;
	}
	if (members.overflowed)
		return fh_error_set(err, FH_E_BUG, "the files of a code context have more than %d bytes", FILES_MAX);
	if (!found) {
		found = fh_buf_take(&members, NULL);
		if (!atomic_compare_exchange_strong(text, &expected, found)) {
			free(found);
			found = expected;
		}
	}
	*ret = found;
	return 0;
}

int fh_context_prelude(const struct fh_context_kind *kind, const json_t *options, struct fh_buf *ret,
                       struct fh_error *err)
{
	const char *files = NULL;
	int r = files_of(kind, &files, err);
	if (r < 0)
		return r;
	(void)fh_buf_addc(ret, '{');
	(void)fh_buf_adds(ret, files);
	(void)fh_buf_adds(ret, "\"options\":");
	fh_json_write(ret, options, 0);
	(void)fh_buf_adds(ret, "}\n");
	return 0;
}
