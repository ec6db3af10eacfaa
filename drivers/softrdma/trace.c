// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where the code behind the tracepoints is.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
