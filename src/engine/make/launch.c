/* SPDX-License-Identifier: MIT */
#include "engine/make/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/host/place.h"
#include "base/host/refusal.h"
#include "engine/host/ids.h"
#include "engine/make/init_image.h"

/* The memory file with fumehood-init is sealed, so that a process that opens /proc/1/exe cannot change what the next
 * sandbox runs. */
static int make_init_image(struct fh_error *err)
{
	int fd = fh_memory_program("fumehood-init", fh_init_image, fh_init_image_size);
	if (fd < 0)
		fh_error_sys(err, errno, "cannot put fumehood-init into memory");
	return fd;
}

static const struct {
	enum fh_layer layer;
	uint64_t flag;
} layer_flags[] = {
	{ FH_LAYER_PID, CLONE_NEWPID }, { FH_LAYER_MOUNT, CLONE_NEWNS }, { FH_LAYER_NETWORK, CLONE_NEWNET },
	{ FH_LAYER_IPC, CLONE_NEWIPC }, { FH_LAYER_UTS, CLONE_NEWUTS },
};

uint64_t fh_launch_namespaces(const struct fh_plan *plan)
{
	uint64_t flags = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(layer_flags); i++)
		if (plan->layers & 1u << layer_flags[i].layer)
			flags |= layer_flags[i].flag;
	return flags;
}

static uint64_t root_size(const struct fh_plan *p)
{
	uint64_t bytes = 1 << 20;
	for (size_t i = 0; i < p->mount_count; i++)
		bytes += (p->mounts[i].content.size + 4095) / 4096 * 4096;
	return bytes;
}

static int explain_clone(int error, bool into_group, struct fh_error *err);

int fh_launch_init_image(struct fh_error *err)
{
	static int init_image = -1; /* made once, kept until the engine ends */
	if (init_image < 0)
		init_image = make_init_image(err);
	return init_image;
}

int fh_launch(const struct fh_plan *plan, enum fh_part part, const struct fh_cgroup *cgroup, const struct fh_ids *ids,
              struct fh_launched *ret, struct fh_error *err)
{
	int init_image = fh_launch_init_image(err);
	if (init_image < 0)
		return -FH_E_SYSTEM;
	int report[2] = { -1, -1 }, go[2] = { -1, -1 }, pair[2] = { -1, -1 }, pidfd = -1, r;
	if (pipe2(report, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		r = fh_error_sys(err, errno, "cannot make the pipes of a sandbox");
		goto failed;
	}
	int buffer = 1 << 20; /* large enough for a whole SPAWN message, so that sending never waits for init */
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
	struct fh_launch l = {
		.part = part,
		.plan = plan,
		.cgroup = cgroup,
		.ids = *ids,
		.init_image = init_image,
		.init_socket = pair[1],
		.report = report[1],
		.go = go[0],
		.root_bytes = root_size(plan),
	};
	struct clone_args args = { .flags = CLONE_PIDFD | fh_launch_namespaces(plan),
		                       .pidfd = (uint64_t)(uintptr_t)&pidfd,
		                       .exit_signal = SIGCHLD };
	if (!ids->ranges)
		args.flags |= CLONE_NEWUSER;
	int group = cgroup ? fh_cgroup_v2_dir(cgroup) : -1;
	if (group >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)group;
	}
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		close(pair[0]);
		close(report[0]);
		close(go[1]);
		fh_setup(&l);
	}
	if (pid < 0) {
		r = explain_clone(errno, group >= 0, err);
		goto failed;
	}
	close(report[1]);
	close(go[0]);
	close(pair[1]);
	(void)fh_set_nonblock(report[0], true);
	(void)fh_set_nonblock(pair[0], true);
	*ret =
	    (struct fh_launched){ .pid = (pid_t)pid, .pidfd = pidfd, .socket = pair[0], .report = report[0], .go = go[1] };
	return 0;
failed:
	for (int i = 0; i < 2; i++) {
		if (report[i] >= 0)
			close(report[i]);
		if (go[i] >= 0)
			close(go[i]);
		if (pair[i] >= 0)
			close(pair[i]);
	}
	return r;
}

int fh_launch_write_maps(const struct fh_launched *c, const struct fh_ids *ids, struct fh_error *err)
{
	static const char *const files[] = { "uid_map", "gid_map" };
	char path[64], map[FH_IDS_MAP_MAX];
	fh_ids_map(ids, map);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)c->pid, files[i]);
		fh_auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, strlen(map)) != (ssize_t)strlen(map))
			return fh_error_sys(err, errno, "cannot write %s", path);
	}
	if (write(c->go, "", 1) != 1)
		return fh_error_sys(err, errno, "the sandbox went away while it was made");
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- errors */

/* Adds a hint to the error of a clone or unshare that the host refused. */
static void explain(int error, struct fh_error *err)
{
	struct fh_refusal refusal;
	if (fh_refusal_find(error, &refusal))
		fh_error_hint(err, "%s: %s", refusal.why, refusal.mend);
}

/* clone3 into a control group can also fail for reasons of that group, for which a hint about namespaces would be wrong
 * (clone3(2)). */
static int explain_clone(int error, bool into_group, struct fh_error *err)
{
	static const int of_group[] = { EBUSY, EOPNOTSUPP, EACCES, ENODEV, ENOENT };
	for (size_t i = 0; into_group && i < FH_ARRAY_SIZE(of_group); i++) {
		if (error != of_group[i])
			continue;
		(void)fh_error_sys(err, error, "the kernel starts no process in the sandbox's control group");
		fh_error_hint(err, error == EACCES ? "the group that fumehood started in must be writable for this user, its "
		                                     "cgroup.procs too: delegate the whole group"
		                                   : "something else changed the group while it was used: try again");
		return -FH_E_SYSTEM;
	}
	(void)fh_error_sys(err, error, "the kernel refuses the namespaces of a sandbox");
	if (error == EAGAIN)
		fh_error_hint(err, "a limit on processes is reached: ulimit -u, or pids.max of a control group around us");
	else
		explain(error, err);
	return -FH_E_SYSTEM;
}

static const char *const step_texts[FH_SETUP_COUNT_] = {
	[FH_SETUP_IDS] = "ask for id maps",
	[FH_SETUP_CGROUP] = "enter the control groups",
	[FH_SETUP_UNSHARE] = "enter a user namespace",
	[FH_SETUP_MAPS] = "write the id maps",
	[FH_SETUP_NETWORK] = "raise the loopback interface",
	[FH_SETUP_HOSTNAME] = "set the host name",
	[FH_SETUP_ROOT] = "open for the root",
	[FH_SETUP_VOLUME] = "mount the volume",
	[FH_SETUP_MOUNT] = "mount",
	[FH_SETUP_PIVOT] = "change the root to the new one",
	[FH_SETUP_LANDLOCK] = "enter a Landlock domain",
	[FH_SETUP_CAPABILITIES] = "drop capabilities",
	[FH_SETUP_SECCOMP] = "load the seccomp filter",
	[FH_SETUP_EXEC] = "start fumehood-init",
	[FH_SETUP_READY] = "get ready",
};

int fh_launch_failed(const struct fh_setup_report *r, struct fh_error *err)
{
	int step = r->step >= 0 && r->step < FH_SETUP_COUNT_ ? r->step : FH_SETUP_READY;
	bool path = step == FH_SETUP_ROOT || step == FH_SETUP_VOLUME || step == FH_SETUP_MOUNT;
	fh_error_sys(err, r->error, "cannot %s%s%.200s", step_texts[step], path ? " " : "", path ? r->what : "");
	/* AppArmor may let a user create the namespace and then deny the capabilities in it, so that the first step that
	 * needs one fails */
	if (step == FH_SETUP_UNSHARE || step == FH_SETUP_MAPS || step == FH_SETUP_NETWORK || step == FH_SETUP_HOSTNAME)
		explain(r->error, err);
	else if (step == FH_SETUP_VOLUME && (r->error == EINVAL || r->error == EPERM))
		fh_error_hint(err,
		              "where sandboxes have ids of their own, a volume needs an id-mapped mount, which this folder's "
		              "file system refuses: ext4, XFS, Btrfs and, from Linux 6.3 on, tmpfs allow it, an overlay (the "
		              "root of a container) does not");
	else if (step == FH_SETUP_MOUNT && r->error == EPERM)
		fh_error_hint(err, "inside a container the kernel refuses a fresh /proc while parts of the container's own are "
		                   "masked: for Docker, --security-opt systempaths=unconfined");
	else if (step == FH_SETUP_ROOT && r->error == ELOOP)
		fh_error_hint(err, "a symbolic link on the path may have been made by a program in a sandbox, so it is not "
		                   "followed: name its target");
	else if (path && r->error == ENOSYS)
		fh_error_hint(err, "Linux 5.12 or newer is needed (mount_setattr)");
	return -FH_E_SYSTEM;
}
