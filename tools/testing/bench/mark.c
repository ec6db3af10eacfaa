// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Has the instructions counted so far written down (insn_count.c). */
#include "mark.h"

int main(void)
{
	__asm__ volatile(MARK_ASM);
	return 0;
}
