// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The code of the tracepoints. It reads outgoing and received packets, so it
 * stands above all rooms.
 */
#include "objects/device.h"
#include "objects/qp.h"
#include "wire/packet_in.h"
#include "wire/tx.h"

#define CREATE_TRACE_POINTS
#include "observe/trace.h"
