// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The data path as one object, as the scheduler is built in
 * kernel/sched/build_policy.c. A message passes through most of these files, and
 * calls between them are a tenth of what it costs (performance.rst): gcc sees
 * them together here, and inlines as it finds best.
 *
 * Each file includes what it needs and compiles alone: so it does for KUnit, and
 * with SOFTRDMA_APART=y.
 */
#include "proto/icrc.h"
#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/run.h"
#include "proto/uc.h"
#include "base/crc.h"
#include "engine/backlog.h"
#include "engine/engine.h"
#include "engine/upcall.h"
#include "engine/urge.h"
#include "queues/receive_queue.h"
#include "queues/wqe.h"
#include "memory/keys.h"
#include "memory/loan.h"
#include "objects/effects.h"
#include "objects/qp.h"
#include "posting/completion.h"
#include "posting/doorbell.h"
#include "posting/post.h"
#include "posting/srq.h"
#include "wire/addresses.h"
#include "wire/inflight.h"
#include "wire/loop.h"
#include "wire/netns.h"
#include "wire/path.h"
#include "wire/shortcut.h"
#include "wire/skb_pool.h"
#include "wire/tamper.h"
#include "responder/execute.h"
#include "responder/hold.h"
#include "responder/linger.h"
#include "responder/reply.h"
#include "responder/wait.h"
#include "requester/send.h"
#include "requester/store.h"

/*
 * What the other objects of the module call. With -fwhole-program all else is
 * this object's own: functions that are called once vanish in their callers. One
 * that is missing here does not link.
 */
#define DOOR(name)	extern typeof(name) name __visible

DOOR(srdma_icrc_init);

DOOR(srdma_opcodes);

DOOR(srdma_run_part);

DOOR(srdma_rc_req_drain);
DOOR(srdma_rc_req_init);
DOOR(srdma_rc_req_update);

DOOR(srdma_rc_resp_init);
DOOR(srdma_rc_resp_update);

DOOR(srdma_uc_req_drain);
DOOR(srdma_uc_req_release_all);
DOOR(srdma_uc_req_init);
DOOR(srdma_uc_resp_init);

DOOR(srdma_crc_exit);
DOOR(srdma_crc_init);

DOOR(srdma_backlog_get);
DOOR(srdma_backlog_init);
DOOR(srdma_backlog_put);

DOOR(srdma_engine_clear);
DOOR(srdma_engine_init);
DOOR(srdma_engine_kick);
DOOR(srdma_engine_kick_later);
DOOR(srdma_engine_start);
DOOR(srdma_engine_stop);
DOOR(srdma_engine_uninit);
DOOR(srdma_engines_exit);
DOOR(srdma_engines_init);

DOOR(srdma_upcall_stop);
DOOR(srdma_upcalls_exit);
DOOR(srdma_upcalls_init);

DOOR(srdma_urge_for);
DOOR(srdma_urge_no_more_for);

DOOR(srdma_rq_create);
DOOR(srdma_rq_destroy);
DOOR(srdma_rq_post);
DOOR(srdma_rq_prepare_resize);
DOOR(srdma_rq_reset);
DOOR(srdma_rq_resize);

DOOR(srdma_wqe_size);

DOOR(srdma_key_close);
DOOR(srdma_key_drain);
DOOR(srdma_key_drain_spin);
DOOR(srdma_key_erase);
DOOR(srdma_key_open);
DOOR(srdma_key_publish);
DOOR(srdma_keys_init);
DOOR(srdma_keys_uninit);

DOOR(srdma_loans_call_back);
DOOR(srdma_loans_init);

DOOR(srdma_effects_cause);

DOOR(srdma_qp_alloc);
DOOR(srdma_qp_events_init);
DOOR(srdma_qp_free);
DOOR(srdma_qp_mtu);
DOOR(srdma_qp_put);
DOOR(srdma_qp_set_state);
DOOR(srdma_qp_state_allows);
DOOR(srdma_qps_exit);
DOOR(srdma_qps_init);

DOOR(srdma_cq_arm);
DOOR(srdma_cq_entries);
DOOR(srdma_cq_events_init);
DOOR(srdma_cq_peek);
DOOR(srdma_cq_poll);

DOOR(srdma_doorbell_flush);
DOOR(srdma_doorbell_init);
DOOR(srdma_doorbell_uninit);

DOOR(srdma_qp_post_recv);
DOOR(srdma_qp_post_send);

DOOR(srdma_srq_events_init);

DOOR(srdma_addresses_add);
DOOR(srdma_addresses_del);
DOOR(srdma_addresses_host_has);

DOOR(srdma_inflight_begin);
DOOR(srdma_inflight_end);
DOOR(srdma_inflight_exit);

DOOR(srdma_loop_exit);

DOOR(srdma_netns_exit);
DOOR(srdma_netns_get);
DOOR(srdma_netns_init);
DOOR(srdma_netns_of);
DOOR(srdma_netns_leave);
DOOR(srdma_netns_put);

DOOR(srdma_path_drop);
DOOR(srdma_path_init);

DOOR(srdma_shortcut_begin);
DOOR(srdma_shortcut_end);
DOOR(srdma_shortcut_forget);

DOOR(srdma_skb_pool_exit);

DOOR(srdma_tamper_init);
DOOR(srdma_tamper_uninit);

DOOR(srdma_execute_run);

DOOR(srdma_hold_clear);
DOOR(srdma_wait_clear);
DOOR(srdma_hold_init);

DOOR(srdma_linger_init);

DOOR(srdma_reply_last);

DOOR(srdma_send_resume);
DOOR(srdma_send_run);

DOOR(srdma_store_init);
DOOR(srdma_store_uninit);

#include "requester/send.c"
#include "requester/fetch.c"
#include "requester/datagram.c"
#include "requester/response.c"
#include "requester/failure.c"
#include "requester/store.c"

#include "responder/execute.c"
#include "responder/remote.c"
#include "responder/hold.c"
#include "responder/linger.c"
#include "responder/refusal.c"
#include "responder/reply.c"
#include "responder/wait.c"

#include "wire/tx.c"
#include "wire/train.c"
#include "wire/loop.c"
#include "wire/path.c"
#include "wire/route.c"
#include "wire/inflight.c"
#include "wire/notify.c"
#include "wire/rider.c"
#include "wire/skb_pool.c"
#include "wire/shortcut.c"
#include "wire/hook.c"
#include "wire/packet_in.c"
#include "wire/packet_addresses.c"
#include "wire/frame.c"
#include "wire/tamper.c"
#include "wire/tap.c"
#include "wire/netns.c"
#include "wire/addresses.c"
#include "wire/merge.c"

#include "posting/post.c"
#include "posting/doorbell.c"
#include "posting/completion.c"
#include "posting/srq.c"
#include "posting/effects.c"

#include "objects/qp.c"
#include "objects/effects.c"

#include "memory/access.c"
#include "memory/check.c"
#include "memory/skb_walk.c"
#include "memory/invalidate.c"
#include "memory/explain.c"
#include "memory/keys.c"
#include "memory/loan.c"

#include "queues/receive_queue.c"
#include "queues/wqe.c"

#include "engine/engine.c"
#include "engine/attend.c"
#include "engine/backlog.c"
#include "engine/upcall.c"
#include "engine/urge.c"
#include "engine/worker.c"

#include "base/crc.c"

#include "proto/opcode.c"
#include "proto/packet.c"
#include "proto/icrc.c"
#include "proto/crc32.c"
#include "proto/aeth.c"
#include "proto/ud.c"
#include "proto/burst.c"
#include "proto/run.c"
#include "proto/rc_req.c"
#include "proto/rc_req_resp.c"
#include "proto/rc_req_part.c"
#include "proto/rc_req_kept.c"
#include "proto/rc_req_again.c"
#include "proto/rc_req_end.c"
#include "proto/rc_req_late.c"
#include "proto/rc_req_delay.c"
#include "proto/rc_req_slow.c"
#include "proto/rc_req_pace.c"
#include "proto/rc_req_time.c"
#include "proto/rc_resp.c"
#include "proto/rc_resp_hold.c"
#include "proto/rc_resp_out.c"
#include "proto/uc.c"
#include "proto/uc_rate.c"
