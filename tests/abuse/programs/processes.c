/* SPDX-License-Identifier: MIT */
/* Processes, threads, signals and time. A number as argument is how much counts as too much: the program then says
 * ESCAPED and stops, so that it is bounded where nothing stops it. */
#include "../attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(double s)
{
	struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };
	nanosleep(&t, NULL);
}

static void *wait_for_ever(void *arg)
{
	while (pause() < 0)
		;
	return arg;
}

static void forks(char **args)
{
	int most = atoi(argument(args, 0, "100")), n = 0;
	pid_t pid = 0;
	while (n < most && (pid = fork()) > 0)
		n++;
	if (pid == 0 && n < most)
		wait_for_ever(NULL);
	if (n >= most)
		escaped("%d processes", n);
	else
		held("%d processes: %s", n, strerror(errno));
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
}

static void threads(char **args)
{
	int most = atoi(argument(args, 0, "100")), n = 0, r = 0;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_t t;
	while (n < most && (r = pthread_create(&t, &small, wait_for_ever, NULL)) == 0)
		n++;
	if (n >= most)
		escaped("%d threads", n);
	else
		held("%d threads: %s", n, strerror(r));
	_exit(0);
}

/* Outlives its parent by a double fork and a session of its own; its command line holds the argument. */
static void daemon_outlives(char **args)
{
	const char *mark = argument(args, 0, "1000.1");
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int fd = 0; fd < 64; fd++)
				close(fd);
			signal(SIGHUP, SIG_IGN);
			signal(SIGTERM, SIG_IGN);
			execlp("sleep", "sleep", mark, NULL);
			_exit(127);
		}
		_exit(0);
	}
	wait(NULL);
	nap(0.05);
	held("a daemon was left behind");
}

/* A storm of orphans and zombies; init reaps all of them or the limit on processes is soon reached. */
static void orphans(char **args)
{
	int rounds = atoi(argument(args, 0, "200"));
	for (int i = 0; i < rounds; i++) {
		pid_t child = fork();
		if (child == 0) {
			for (int k = 0; k < 3; k++)
				if (fork() == 0)
					_exit(0);
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
		else
			nap(0.001);
	}
	double end = now() + 5;
	pid_t child = -1;
	while (child < 0 && now() < end)
		if ((child = fork()) < 0)
			nap(0.005);
	if (child == 0)
		_exit(0);
	if (child < 0)
		escaped("orphans are not reaped");
	else
		held("all reaped");
}

/* Children that are never waited for, by a parent that lives: they stay within the limit. */
static void zombies(char **args)
{
	int most = atoi(argument(args, 0, "1000")), n = 0;
	pid_t child = 0;
	while (n < most && (child = fork()) > 0)
		n++;
	if (child == 0)
		_exit(0);
	if (n >= most)
		escaped("%d zombies", n);
	else
		held("%d zombies", n);
}

/* The first argument is the host's pid namespace, as its link reads. An attack by signals that finds itself in there
 * has already won: it says so and sends nothing. */
static bool among_the_host_s(char **args)
{
	char link[64] = "";
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
	if (n > 0 && args[0] && strcmp(link, args[0]) != 0 && strncmp(args[0], "pid:[", 5) == 0)
		return false;
	escaped("this is the host's pid namespace, or not known to be another (%s)", link);
	return true;
}

/* Signals to everybody. Arguments: the host's pid namespace, process ids of the host. */
static void kill_others(char **args)
{
	if (among_the_host_s(args))
		return;
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (args++; *args; args++) {
		pid_t pid = atoi(*args);
		if (pid == getpid() || pid == getppid()) /* the same number, in here */
			continue;
		judge("kill of a process of the host", kill(pid, 0));
		kill(pid, SIGKILL);
		kill(-pid, SIGKILL);
		syscall(SYS_tgkill, pid, pid, SIGKILL);
		int fd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (fd >= 0) {
			syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
			escaped("a pidfd of a process of the host");
		}
	}
	kill(1, SIGKILL);
	kill(1, SIGSTOP);
	kill(getppid(), SIGKILL);
	if (fork() == 0) {
		kill(0, SIGTERM);
		kill(-1, SIGTERM);
		_exit(0);
	}
	wait(NULL);
	held("still here");
}

/* Signals everybody that can be reached but itself. */
static void kill_all(char **args)
{
	if (among_the_host_s(args))
		return;
	held("kill(-1): %s", kill(-1, SIGKILL) == 0 ? "sent" : strerror(errno));
}

/* Stops everybody that it can reach, again and again: whoever copies files for the client as the same user, too.
 * Arguments: the host's pid namespace, seconds. */
static void stop_everybody(char **args)
{
	if (among_the_host_s(args))
		return;
	double end = now() + atof(argument(args, 1, "1"));
	int fd = open("out", O_WRONLY | O_CREAT, 0666), n = 0;
	static char block[1 << 20];
	(void)!write(fd, block, sizeof(block));
	while (now() < end)
		n += kill(-1, SIGSTOP) == 0;
	if (n)
		printf("stopped somebody %d times\n", n);
}

/* Lowers what init may use of the processor. */
static void hinder_init(char **args)
{
	(void)args;
	struct rlimit an_hour = { 3600, 3600 }; /* less would end init, and this program, before it can tell */
	judge("prlimit of init", syscall(SYS_prlimit64, 1, RLIMIT_CPU, &an_hour, NULL));
	judge("setpriority of init", setpriority(PRIO_PROCESS, 1, 19));
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	judge("affinity of init", sched_setaffinity(1, sizeof(one), &one));
	struct sched_param idle = { 0 };
	judge("scheduler of init", sched_setscheduler(1, SCHED_IDLE, &idle));
	judge("I/O priority of init", syscall(SYS_ioprio_set, 1, 1, 3 << 13));
}

/* Signals init, by every call that there is for it. */
static void signal_init(char **args)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	(void)args;
	judge("kill of init", kill(1, SIGCHLD));
	judge("tkill of init", syscall(SYS_tkill, 1, SIGCHLD));
	judge("tgkill of init", syscall(SYS_tgkill, 1, 1, SIGCHLD));
	judge("rt_sigqueueinfo to init", syscall(SYS_rt_sigqueueinfo, 1, SIGCHLD, &info));
	judge("rt_tgsigqueueinfo to init", syscall(SYS_rt_tgsigqueueinfo, 1, 1, SIGCHLD, &info));
	int fd = (int)syscall(SYS_pidfd_open, 1, 0);
	judge("pidfd_send_signal to init", fd < 0 ? -1 : syscall(SYS_pidfd_send_signal, fd, SIGCHLD, NULL, 0));
	fd = open("/proc/1", O_RDONLY | O_DIRECTORY);
	judge("pidfd_send_signal by /proc/1", fd < 0 ? -1 : syscall(SYS_pidfd_send_signal, fd, SIGCHLD, NULL, 0));
	int owned[2], one = 1, group = -1;
	struct f_owner_ex owner = { F_OWNER_PID, 1 };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, owned) < 0)
		return;
	judge("a socket that sends signals", fcntl(owned[0], F_SETFL, O_ASYNC));
	judge("a socket that sends signals, FIOASYNC", ioctl(owned[0], FIOASYNC, &(int){ 1 }));
	judge("signals of a socket to init", fcntl(owned[0], F_SETOWN, 1));
	judge("signals of a socket to init's group", fcntl(owned[0], F_SETOWN, -1));
	judge("signals of a socket to init, F_SETOWN_EX", fcntl(owned[0], F_SETOWN_EX, &owner));
	judge("signals of a socket to init, FIOSETOWN", ioctl(owned[0], FIOSETOWN, &one));
	judge("signals of a socket to init's group, SIOCSPGRP", ioctl(owned[0], SIOCSPGRP, &group));
}

/* Real-time priority would keep everybody else from a processor. */
static void priorities(char **args)
{
	struct sched_param one = { .sched_priority = 1 };
	struct {
		unsigned size, policy;
		unsigned long flags;
		int nice;
		unsigned priority;
		unsigned long runtime, deadline, period;
	} deadline = { .size = 48, .policy = 6, .runtime = 90000000, .deadline = 100000000, .period = 100000000 };
	(void)args;
	judge("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &one));
	judge("SCHED_RR", sched_setscheduler(0, SCHED_RR, &one));
	judge("SCHED_DEADLINE", syscall(SYS_sched_setattr, 0, &deadline, 0));
	int nice = getpriority(PRIO_PROCESS, 0);
	if (nice > -20 && setpriority(PRIO_PROCESS, 0, nice - 1) == 0 && getpriority(PRIO_PROCESS, 0) == nice)
		held("a better nice value: nothing changes"); /* as the filter answers where it is above 0 */
	else if (nice > -20)
		judge("a better nice value", setpriority(PRIO_PROCESS, 0, nice - 1));
	judge("I/O priority real-time", syscall(SYS_ioprio_set, 1, 0, 1 << 13));
	judge("mlock", mlockall(1) < 0 || syscall(SYS_mlock, (void *)((unsigned long)args & ~4095UL), 4096) < 0 ? -1 : 0);
}

/* ------------------------------------------------------------------------------------------------------------- time */

/* By the processor's time, not the clock's: a busy host changes nothing. */
static void burn_until(double seconds)
{
	struct timespec t;
	volatile unsigned long n = 0;
	do {
		for (int i = 0; i < 10000; i++)
			n++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
}

/* Arguments: seconds of each process, and in how many processes. */
static void burn(char **args)
{
	double seconds = atof(argument(args, 0, "10"));
	int n = atoi(argument(args, 1, "1"));
	for (int i = 1; i < n; i++)
		if (fork() == 0) {
			burn_until(seconds);
			_exit(0);
		}
	burn_until(seconds);
	while (wait(NULL) > 0)
		;
	escaped("%g s were there for each of %d processes", seconds, n);
}

static void tick(int signal)
{
	(void)signal;
}

/* Timers and ignored signals change nothing about the clock. */
static void burn_with_timers(char **args)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	for (int s = 1; s < 65; s++)
		signal(s, SIG_IGN);
	signal(SIGPROF, tick);
	signal(SIGVTALRM, tick);
	setitimer(ITIMER_PROF, &often, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	burn_until(atof(argument(args, 0, "10")));
	escaped("more time than allowed");
}

/* Its children burn, each for less than the interval of whoever looks now and then; or for the given time. Where
 * SIGCHLD is ignored, the kernel adds their time to nobody. */
static void burn_in_short_lives(char **args)
{
	double each = atof(argument(args, 1, "0.004"));
	int children = (int)(atof(argument(args, 0, "10")) / each);
	if (strcmp(argument(args, 2, ""), "ignored") == 0)
		signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < children; i++) {
		pid_t child = fork();
		if (child == 0) {
			burn_until(each);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	escaped("%d short lives were there", children);
}

static void sleep_on(char **args)
{
	double end = now() + atof(argument(args, 0, "10"));
	for (int s = 1; s < 65; s++)
		signal(s, SIG_IGN);
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (now() < end)
		nap(0.1);
	escaped("it slept on");
}

/* Stops itself; a child is to wake it later. */
static void stop(char **args)
{
	pid_t parent = getpid();
	double seconds = atof(argument(args, 0, "10"));
	if (fork() == 0) {
		setsid();
		nap(seconds);
		kill(parent, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	escaped("it was stopped for %g s and goes on", seconds);
}

/* A child of vfork: the parent sleeps where no signal but SIGKILL ends it. */
static void unkillable(char **args)
{
	double seconds = atof(argument(args, 0, "10"));
	if (syscall(SYS_vfork) == 0) {
		for (int s = 1; s < 65; s++)
			signal(s, SIG_IGN);
		nap(seconds);
		_exit(0);
	}
	escaped("it slept on in vfork");
}

/* ------------------------------------------------------------------------------------------------------ exhaustion */

/* What the kernel counts for each user: takes of each kind what it gets, says how much, and holds it for the seconds
 * of the second argument. */
static int take(int (*make)(void), int most)
{
	int n = 0;
	while (n < most && make() >= 0)
		n++;
	return n;
}

static int make_inotify(void)
{
	return inotify_init1(0);
}
static int make_epoll(void)
{
	return epoll_create1(0);
}
static int make_timer(void)
{
	return timerfd_create(CLOCK_MONOTONIC, 0);
}
static int make_event(void)
{
	return eventfd(0, 0);
}
static int make_pipe(void)
{
	int p[2];
	return pipe(p);
}
static int make_pty(void)
{
	return open("/dev/ptmx", O_RDWR | O_NOCTTY);
}
static int make_posix_timer(void)
{
	timer_t t;
	struct sigevent e = { .sigev_notify = SIGEV_NONE };
	return timer_create(CLOCK_MONOTONIC, &e, &t);
}
static int make_queued_signal(void)
{
	union sigval v = { 0 };
	return sigqueue(getpid(), SIGRTMIN, v);
}

static const struct {
	const char *name;
	int (*make)(void);
} kinds[] = {
	{ "inotify", make_inotify },   { "epoll", make_epoll },
	{ "timerfd", make_timer },     { "eventfd", make_event },
	{ "pipe", make_pipe },         { "pty", make_pty },
	{ "timer", make_posix_timer }, { "signal", make_queued_signal },
};

/* Arguments: a kind, how many, seconds to hold them, and "quiet" or a number from which on it is an escape. */
static void exhaust(char **args)
{
	const char *kind = argument(args, 0, "inotify");
	int most = atoi(argument(args, 1, "1000")), bad = atoi(argument(args, 3, "1000000"));
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* several processes, so that the limit on descriptors of one is not what stops it */
	int each = 900, children = (most + each - 1) / each, total = 0;
	int report[2];
	if (pipe(report) < 0)
		return;
	for (int c = 0; c < children; c++) {
		if (fork() != 0)
			continue;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (strcmp(kinds[i].name, kind) == 0) {
				int n = take(kinds[i].make, most < each ? most : each);
				(void)!write(report[1], &n, sizeof(n));
			}
		nap(atof(argument(args, 2, "0")));
		_exit(0);
	}
	close(report[1]);
	for (int n; read(report[0], &n, sizeof(n)) == sizeof(n);)
		total += n;
	if (total >= bad)
		escaped("%d of kind %s", total, kind);
	else
		held("%d of kind %s", total, kind);
	while (wait(NULL) > 0)
		;
}

/* A neighbour: a little of everything is there for it. */
static void a_little_of_all(char **args)
{
	sigset_t all;
	(void)args;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (take(kinds[i].make, 2) < 2)
			escaped("none left of kind %s: %s", kinds[i].name, strerror(errno));
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		if (child < 0)
			escaped("none left of processes: %s", strerror(errno));
	}
	while (wait(NULL) > 0)
		;
	int pair[2], one = 0;
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { (char[]){ "x" }, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &one, sizeof(int));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || sendmsg(pair[0], &m, MSG_DONTWAIT) < 0)
		escaped("none left of descriptors under way: %s", strerror(errno));
	held("enough of everything");
}

/* Holds as many processes as it gets for some seconds: a neighbour of the same uid must not be hindered. */
static void hold_processes(char **args)
{
	int most = atoi(argument(args, 0, "100")), n = 0;
	double seconds = atof(argument(args, 1, "1"));
	struct rlimit l = { (rlim_t)atoi(argument(args, 2, "0")), (rlim_t)atoi(argument(args, 2, "0")) };
	if (l.rlim_cur)
		setrlimit(RLIMIT_NPROC, &l);
	while (n < most) {
		pid_t child = fork();
		if (child == 0) {
			nap(seconds);
			_exit(0);
		}
		if (child < 0)
			break;
		n++;
	}
	held("%d processes", n);
	while (wait(NULL) > 0)
		;
}

/* Argument: a limit of one's own on processes, as an outsider without a namespace has it. */
static void neighbour_forks(char **args)
{
	struct rlimit l = { (rlim_t)atoi(argument(args, 0, "0")), (rlim_t)atoi(argument(args, 0, "0")) };
	if (l.rlim_cur)
		setrlimit(RLIMIT_NPROC, &l);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		if (child < 0) {
			escaped("a neighbour took the processes: %s", strerror(errno));
			return;
		}
		waitpid(child, NULL, 0);
	}
	held("processes are there");
}

/* Writes right before the end, and in a grandchild that outlives the program by a moment. */
static void last_words(char **args)
{
	int n = atoi(argument(args, 0, "1000"));
	static char line[64];
	memset(line, 'x', 63);
	line[63] = '\n';
	for (int i = 0; i < n; i++)
		(void)!write(1, line, 64);
	(void)!write(1, "the end\n", 8);
	_exit(0);
}

static const struct attack attacks[] = {
	{ "forks", forks },
	{ "threads", threads },
	{ "daemon", daemon_outlives },
	{ "orphans", orphans },
	{ "zombies", zombies },
	{ "kill_others", kill_others },
	{ "kill_all", kill_all },
	{ "stop_everybody", stop_everybody },
	{ "hinder_init", hinder_init },
	{ "signal_init", signal_init },
	{ "priorities", priorities },
	{ "burn", burn },
	{ "burn_with_timers", burn_with_timers },
	{ "burn_in_short_lives", burn_in_short_lives },
	{ "sleep", sleep_on },
	{ "stop", stop },
	{ "unkillable", unkillable },
	{ "exhaust", exhaust },
	{ "a_little_of_all", a_little_of_all },
	{ "hold_processes", hold_processes },
	{ "neighbour_forks", neighbour_forks },
	{ "last_words", last_words },
};
ATTACKS(attacks)
