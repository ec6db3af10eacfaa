// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What `softrdma errors` says of what has failed. */
#include "errlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duo.h"
#include "rules.h"

/* As many records as a user has, each of some lines. */
#define SAYS	(256 * 1024)

/* Of the record that @at is in: its reason ends with the code and its name. */
static uint32_t code_of(const char *at)
{
	const char *end = strstr(at, "\n\thelps: ");
	uint32_t code;

	while (end && end > at && strncmp(end, " (", 2))
		end--;
	return end && sscanf(end, " (%u, ", &code) == 1 ? code : 0;
}

static bool has_record(const char *said, uint32_t code, const char *words)
{
	const char *at = said;

	while ((at = strstr(at, words))) {
		if (!code || code_of(at) == code)
			return true;
		at++;
	}
	return false;
}

bool errlog_says(const char *link, uint32_t qpn, uint32_t code,
		 const char *words)
{
	char *said = malloc(SAYS);
	char which[32] = "";
	bool says;

	if (!said)
		return false;
	if (qpn)
		snprintf(which, sizeof(which), " qp %u", qpn);
	says = !rules_tool(said, SAYS, "errors %s%s", link, which) &&
	       has_record(said, code, words);
	if (!says)
		fprintf(stderr, "# %u, \"%s\" is not in: %s", code, words,
			said);
	free(said);
	return says;
}

bool errlog_completes(struct ibv_cq *cq, enum ibv_wc_status status,
		      uint32_t code)
{
	struct ibv_wc wc;

	if (duo_poll(cq, &wc, 1) != 1) {
		fprintf(stderr, "# no completion\n");
		return false;
	}
	if (wc.status == status && wc.vendor_err == code)
		return true;
	fprintf(stderr, "# status %d, vendor_err %u\n", wc.status,
		wc.vendor_err);
	return false;
}
