/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The version of the driver, also that of the DKMS package.
 */
#ifndef SRDMA_VERSION_H
#define SRDMA_VERSION_H

#define SRDMA_VERSION	"0.1.0"

#endif
