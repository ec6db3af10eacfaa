// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include "program.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS	256

/* What no word has that is just itself. */
#define FOR_A_SHELL	"|&;<>()$`\\\"'?[#~=\n\t"

/* "op WRITE*" names no files; "/dev/uverbs*" does. */
static bool has_files(const char *command)
{
	const char *star, *at;

	for (star = command; (star = strchr(star, '*')); star++)
		for (at = star; at > command && at[-1] != ' '; at--)
			if (at[-1] == '/')
				return true;
	return false;
}

/* Cuts the words apart. False: a shell has to. */
static bool split(char *command, char *argv[WORDS])
{
	int argc = 0;
	char *rest;

	if (strpbrk(command, FOR_A_SHELL) || has_files(command))
		return false;
	argv[argc] = strtok_r(command, " ", &rest);
	while (argv[argc] && argc < WORDS - 1)
		argv[++argc] = strtok_r(NULL, " ", &rest);
	return argc && !argv[argc];
}

/* What a descriptor of the caller becomes in the program. */
static int put(posix_spawn_file_actions_t *actions, int fd, int as)
{
	return fd < 0 ? 0 : posix_spawn_file_actions_adddup2(actions, fd, as);
}

pid_t program_start(const char *command, int in, int out)
{
	char *argv[WORDS], *copy = strdup(command);
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (!copy)
		return -1;
	if (!split(copy, argv)) {
		argv[0] = "sh";
		argv[1] = "-c";
		argv[2] = (char *)command;
		argv[3] = NULL;
	}
	posix_spawn_file_actions_init(&actions);
	if (put(&actions, in, STDIN_FILENO) ||
	    put(&actions, out, STDOUT_FILENO) ||
	    put(&actions, out, STDERR_FILENO) ||
	    posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	free(copy);
	return pid;
}

int program_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

int program_says(char *said, int room, const char *command)
{
	int fds[2], len = 0;
	ssize_t n;
	pid_t pid;

	said[0] = 0;
	if (pipe2(fds, O_CLOEXEC))
		return 255;
	pid = program_start(command, -1, fds[1]);
	close(fds[1]);
	while ((n = read(fds[0], said + len, room - 1 - len)) > 0)
		len += n;
	said[len] = 0;
	close(fds[0]);
	return program_wait(pid);
}
