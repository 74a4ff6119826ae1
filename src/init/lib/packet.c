/* SPDX-License-Identifier: MIT */
#include "init/lib/packet.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "init/lib/lib.h"

long fh_send_packet(int socket, const void *packet, size_t size, const int *fds, int count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FH_SENT_FDS_MAX * sizeof(int))];
	const size_t bytes = (size_t)count * sizeof(int);
	struct iovec io = { (void *)(uintptr_t)packet, size };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	if (count) {
		memset(control, 0, sizeof(control));
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(c), fds, bytes);
	}
	long r;
	do
		r = fh_sys(__NR_sendmsg, socket, &h, MSG_NOSIGNAL);
	while (r == -EINTR);
	return r;
}

void fh_close_all(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		fh_sys(__NR_close, fds[i]);
}

long fh_receive_packet(int socket, void *to, size_t size, int fds[FH_SENT_FDS_MAX], int *ret_count)
{
	/* CMSG_LEN and not CMSG_SPACE: the kernel would put one descriptor more into the padding */
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FH_SENT_FDS_MAX * sizeof(int))];
	struct iovec io = { to, size };
	struct msghdr h = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_LEN(FH_SENT_FDS_MAX * sizeof(int)),
	};
	long n;
	*ret_count = 0;
	do
		n = fh_sys(__NR_recvmsg, socket, &h, MSG_CMSG_CLOEXEC);
	while (n == -EINTR);
	if (n < 0)
		return n;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*ret_count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)*ret_count * sizeof(int));
	}
	if (n > 0 && !(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n;
	fh_close_all(fds, *ret_count);
	*ret_count = 0;
	return n > 0 ? -EBADMSG : 0;
}
