/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands on /dev/infiniband/uverbsN without libibverbs in between. */
#ifndef SRT_UVERBS_H
#define SRT_UVERBS_H

#include <stddef.h>
#include <stdint.h>

/* Open the character device of an RDMA device by name; fd or -errno. */
int uverbs_open(const char *name);

/*
 * write(2) of one legacy command: its header is made, @body copied after it.
 * @body_len and @resp_len are what the header claims, in bytes. 0 or -errno.
 * A body that starts with a response address gets @resp's there.
 */
int uverbs_write(int fd, int command, void *body, size_t body_len,
		 void *resp, size_t resp_len);

/* One extended command; @core_len of @body is core, the rest is udata. */
int uverbs_write_ex(int fd, int command, void *body, size_t body_len,
		    size_t core_len, void *resp, size_t resp_len,
		    size_t core_resp_len);

/* GET_CONTEXT; needed once before anything else. 0 or -errno. */
int uverbs_get_context(int fd);

/* A PD's handle, or -errno. */
int uverbs_alloc_pd(int fd);

/**
 * struct uverbs_ring - where a ring can be mapped, as the driver answers it
 * @offset: what to give mmap()
 * @size: bytes of the ring
 * @pad: zero
 */
struct uverbs_ring {
	uint64_t offset;
	uint32_t size;
	uint32_t pad;
};

/* A CQ of @cqe; its handle, or -errno. @ring takes the driver's answer. */
int uverbs_create_cq(int fd, uint32_t cqe, struct uverbs_ring *ring);
int uverbs_destroy_cq(int fd, uint32_t handle);

#endif
