// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kmsg.h"

int kmsg_mark(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_END);
	return fd;
}

bool kmsg_has(int mark, const char *word, const char *other)
{
	char record[4096];
	ssize_t got;

	for (;;) {
		got = read(mark, record, sizeof(record) - 1);
		if (got < 0 && errno == EPIPE)
			continue;
		if (got <= 0)
			return false;
		record[got] = '\0';
		if (strstr(record, word) && (!other || strstr(record, other)))
			return true;
	}
}
