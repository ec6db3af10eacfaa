/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One end of the connection: the part of the driver, modelled, and the
 * oracle's view of it.
 */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "sim.h"

/* memory.c: lists of pieces */
void list_gather(const struct list *l, u32 off, u8 *dst, u32 len);
void list_scatter(struct node *n, const struct list *l, u32 off,
		  const u8 *src, u32 len);
/* Do @len bytes at @off of the list equal @want? */
bool list_equal(const u8 *base, const struct list *l, u32 off,
		const u8 *want, u32 len);
/* The @len payload bytes at @off of a message. */
bool payload_equal(const struct entry *e, u32 off, const u8 *got, u32 len);
bool guards_intact(const struct node *n, const struct list *l);

/* requester.c */
void requester_start(struct node *n);
void requester_post(struct sim *s, struct node *n);
void requester_run(struct sim *s, struct node *n);
void requester_response(struct sim *s, struct node *n, struct frame *f);
void requester_timer(struct sim *s, struct node *n);
/* The fields of a request packet that come from the work request. */
void request_headers(const struct entry *e, u32 idx, const struct srdma_burst *b,
		     u32 i, struct srdma_pkt *pkt);
/* A work request left the queue: is that what had to happen? */
void check_done(struct sim *s, struct node *n, u32 idx, u8 status);

/* responder.c */
void responder_start(struct node *n);
void responder_request(struct sim *s, struct node *n, struct frame *f);
void responder_run(struct sim *s, struct node *n);
/*
 * Does the core complete a receive with this packet? It has to with the last one of
 * what takes a receive WQE, and with no other.
 */
bool check_completes(struct sim *s, const struct node *n, const struct entry *e,
		     const struct srdma_rc_resp_act *act);
/* A message that takes a receive WQE has come in whole. */
void check_received(struct sim *s, struct node *n, const struct entry *e,
		    const struct frame *f, const struct srdma_rc_resp_act *act);

/* hold.c: requests behind a hole */

/* Is @f, which is not expected, held back? Then a copy of it is. */
/* Memory for what is noted about losses, unless it is refused. */
bool hold_provide(struct node *n);

bool hold_back(struct sim *s, struct node *n, const struct frame *f);
/* One that is expected now. */
struct frame *hold_take(struct sim *s, struct node *n);
void hold_drop(struct node *n);
/* Reports what has been missing for long. */
void hold_time(struct sim *s, struct node *n);

/* uc.c */
void uc_start(struct node *n);
void uc_run(struct sim *s, struct node *n);
void uc_request(struct sim *s, struct node *n, struct frame *f);

/* run.c: the QP goes to the error state. */
void node_error(struct sim *s, struct node *n);

#endif
