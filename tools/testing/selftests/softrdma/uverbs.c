// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uverbs.h"

#define COMMAND_BYTES 1024

/* The uverbs number of an RDMA device, or -errno. */
static int uverbs_number(const char *name)
{
	char path[512], found[64];
	struct dirent *entry;
	int number = -ENODEV;
	DIR *dir;

	dir = opendir("/sys/class/infiniband_verbs");
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path),
			 "/sys/class/infiniband_verbs/%s/ibdev",
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%63s", found) == 1 && !strcmp(found, name))
			sscanf(entry->d_name, "uverbs%d", &number);
		fclose(file);
	}
	closedir(dir);
	return number;
}

int uverbs_open(const char *name)
{
	int number = uverbs_number(name);
	char path[64];
	int fd;

	if (number < 0)
		return number;
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int uverbs_write(int fd, int command, void *body, size_t body_len,
		 void *resp, size_t resp_len)
{
	uint64_t address = (uintptr_t)resp;
	char buffer[COMMAND_BYTES] = {};
	struct ib_uverbs_cmd_hdr *head = (void *)buffer;

	head->command = command;
	head->in_words = (sizeof(*head) + body_len) / 4;
	head->out_words = resp_len / 4;
	if (resp)
		memcpy(body, &address, sizeof(address));
	memcpy(head + 1, body, body_len);
	if (write(fd, buffer, sizeof(*head) + body_len) < 0)
		return -errno;
	return 0;
}

int uverbs_write_ex(int fd, int command, void *body, size_t body_len,
		    size_t core_len, void *resp, size_t resp_len,
		    size_t core_resp_len)
{
	char buffer[COMMAND_BYTES] = {};
	struct ib_uverbs_cmd_hdr *head = (void *)buffer;
	struct ib_uverbs_ex_cmd_hdr *ex = (void *)(head + 1);
	size_t total = sizeof(*head) + sizeof(*ex) + body_len;

	head->command = command | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	head->in_words = core_len / 8;
	head->out_words = core_resp_len / 8;
	ex->response = (uintptr_t)resp;
	ex->provider_in_words = (body_len - core_len) / 8;
	ex->provider_out_words = (resp_len - core_resp_len) / 8;
	memcpy(ex + 1, body, body_len);
	if (write(fd, buffer, total) < 0)
		return -errno;
	return 0;
}

int uverbs_get_context(int fd)
{
	struct ib_uverbs_get_context_resp resp = {};
	struct ib_uverbs_get_context command = {};
	int ret;

	ret = uverbs_write(fd, IB_USER_VERBS_CMD_GET_CONTEXT, &command,
			   sizeof(command), &resp, sizeof(resp));
	if (ret)
		return ret;
	close(resp.async_fd);
	return 0;
}

int uverbs_alloc_pd(int fd)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ib_uverbs_alloc_pd command = {};
	int ret;

	ret = uverbs_write(fd, IB_USER_VERBS_CMD_ALLOC_PD, &command,
			   sizeof(command), &resp, sizeof(resp));
	return ret ? ret : (int)resp.pd_handle;
}

int uverbs_create_cq(int fd, uint32_t cqe, struct uverbs_ring *ring)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct uverbs_ring ring;
	} resp = {};
	struct ib_uverbs_create_cq command = {
		.cqe = cqe,
		.comp_channel = -1,
	};
	int ret;

	ret = uverbs_write(fd, IB_USER_VERBS_CMD_CREATE_CQ, &command,
			   sizeof(command), &resp, sizeof(resp));
	if (ret)
		return ret;
	*ring = resp.ring;
	return resp.core.cq_handle;
}

int uverbs_destroy_cq(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp = {};
	struct ib_uverbs_destroy_cq command = { .cq_handle = handle };

	return uverbs_write(fd, IB_USER_VERBS_CMD_DESTROY_CQ, &command,
			    sizeof(command), &resp, sizeof(resp));
}
