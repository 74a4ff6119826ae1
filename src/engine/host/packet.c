/* SPDX-License-Identifier: MIT */
#include "engine/host/packet.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int fh_packet_send(int socket, const void *message, size_t size, const int *fds, size_t fd_count)
{
	char control[CMSG_SPACE(FH_PACKET_FDS_MAX * sizeof(int))] = { 0 };
	struct iovec io = { (void *)(uintptr_t)message, size };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	if (fd_count > FH_PACKET_FDS_MAX)
		return -EINVAL;
	if (fd_count) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
	}
	while (sendmsg(socket, &h, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

ssize_t fh_packet_receive(int socket, void *buffer, size_t size, int fds[FH_PACKET_FDS_MAX], int *ret_count)
{
	char control[CMSG_SPACE(FH_PACKET_FDS_MAX * sizeof(int))];
	struct iovec io = { buffer, size };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t n;
	while ((n = recvmsg(socket, &h, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	*ret_count = 0;
	if (n <= 0)
		return n < 0 ? -errno : 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int)); /* the kernel sends at most one such control message */
		*ret_count = count;
	}
	if (!(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n;
	for (int i = 0; i < *ret_count; i++)
		close(fds[i]);
	*ret_count = 0;
	return -EMSGSIZE;
}
