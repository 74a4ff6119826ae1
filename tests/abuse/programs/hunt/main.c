/* SPDX-License-Identifier: MIT */
#include "hunt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH_MS = 60, TEXT_MAX = 4096 };

static char *next_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');
	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return line;
}

static bool read_words(struct hunt_words *w)
{
	static char text[TEXT_MAX + 1];
	int fd = open("hunt.seed", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	char *at = text, *lines[6 + HUNT_PATHS] = { NULL };
	size_t count = 0;
	while (count < sizeof(lines) / sizeof(lines[0]) && (lines[count] = next_line(&at)))
		count++;
	if (count < 6)
		return false;
	w->kind = strcmp(lines[0], "watch") == 0 ? HUNT_WATCH : strcmp(lines[0], "census") == 0 ? HUNT_CENSUS : HUNT_HUNT;
	w->seed = strtoull(lines[1], NULL, 10);
	snprintf(w->mark, sizeof(w->mark), "%s", lines[2]);
	w->batches = (unsigned)strtoul(lines[3], NULL, 10);
	w->port = atoi(lines[4]);
	snprintf(w->abstract, sizeof(w->abstract), "%s", lines[5]);
	for (w->path_count = 0; w->path_count < count - 6; w->path_count++)
		snprintf(w->paths[w->path_count], sizeof(w->paths[0]), "%s", lines[6 + w->path_count]);
	return true;
}

/* Waits for a batch; one that hangs is killed. */
static void await(pid_t child)
{
	for (int ms = 0; ms < BATCH_MS; ms++) {
		pid_t gone = waitpid(child, NULL, WNOHANG | __WALL);
		if (gone == child || (gone < 0 && errno != EINTR))
			return;
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
}

static void hunt(const struct hunt_words *w)
{
	struct hunt_told *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned batch = 0;
	sigset_t all, was;
	if (told == MAP_FAILED)
		return;
	sigfillset(&all); /* what the batches send to everybody is not to end the hunt, but SIGKILL */
	sigprocmask(SIG_SETMASK, &all, &was);
	for (; batch < w->batches && !told->finding[0]; batch++) {
		/* the bare call: nothing that a library does around a fork stands between */
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (child == 0) {
			setpgid(0, 0);
			sigprocmask(SIG_SETMASK, &was, NULL);
			hunt_batch(w, batch, told);
			_exit(0);
		}
		if (child < 0)
			break;
		await(child);
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
	}
	if (told->finding[0])
		dprintf(1, "\nESCAPED batch %u of seed %llu: %.500s\n", batch - 1, (unsigned long long)w->seed, told->finding);
	dprintf(1, "\nhunted %u batches, %llu calls, %llu good\n", batch, (unsigned long long)told->calls,
	        (unsigned long long)told->good);
	munmap(told, 4096);
	while (sigtimedwait(&all, NULL, &(struct timespec){ 0, 0 }) > 0)
		;
	sigprocmask(SIG_SETMASK, &was, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	static struct hunt_words w;
	if (!read_words(&w))
		return;
	static void (*const kinds[])(
	    const struct hunt_words *) = { [HUNT_HUNT] = hunt, [HUNT_WATCH] = hunt_watch, [HUNT_CENSUS] = hunt_census };
	kinds[w.kind](&w);
}
