// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Effects of rules on a device (objects/effects.h): the port goes down and
 * comes up, the device reports events that did not happen, the device is
 * removed.
 */
#include <linux/workqueue.h>

#include "device/effects.h"
#include "device/ibdev.h"
#include "device/link.h"
#include "objects/device.h"
#include "objects/effects.h"

static void set_port(struct srdma_dev *dev, bool down)
{
	srdma_rules_set_port(&dev->rules, down);
	srdma_link_follow_port(dev);
}

static void let_up(struct work_struct *work)
{
	struct srdma_effects *effects =
		container_of(to_delayed_work(work), struct srdma_effects, up);

	set_port(container_of(effects, struct srdma_dev, effects), false);
}

static void take_down(struct srdma_dev *dev, u64 down_for)
{
	/* One that has its end already gets a new one, or none. */
	cancel_delayed_work_sync(&dev->effects.up);
	set_port(dev, true);
	if (down_for)
		schedule_delayed_work(&dev->effects.up,
				      nsecs_to_jiffies(down_for) + 1);
}

static void let_port_up(struct srdma_dev *dev)
{
	cancel_delayed_work(&dev->effects.up);
	set_port(dev, false);
}

/*
 * The core does not pass this event on to programs when a driver raises it, but
 * raises it itself where an address changes. So it is raised in the core's way.
 */
static void tell_of_gids(struct srdma_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = SRDMA_PORT,
		.event = IB_EVENT_GID_CHANGE,
	};
	struct ib_event_handler *handler;

	down_read(&dev->ib.event_handler_rwsem);
	list_for_each_entry(handler, &dev->ib.event_handler_list, list)
		handler->handler(handler, &event);
	up_read(&dev->ib.event_handler_rwsem);
}

static void bring_about(struct srdma_dev *dev, enum srdma_nl_action action,
			u64 down_for)
{
	switch (action) {
	case SRDMA_NL_ACT_PORT_DOWN:
		take_down(dev, down_for);
		return;
	case SRDMA_NL_ACT_GID_CHANGE:
		tell_of_gids(dev);
		return;
	case SRDMA_NL_ACT_DEVICE_FATAL:
		take_down(dev, down_for);
		srdma_link_announce(dev, IB_EVENT_DEVICE_FATAL);
		return;
	case SRDMA_NL_ACT_REMOVE:
		srdma_link_end(dev);
		return;
	default:
		return;
	}
}

static void do_effects(struct work_struct *work)
{
	struct srdma_effects *effects =
		container_of(work, struct srdma_effects, work);
	struct srdma_dev *dev = container_of(effects, struct srdma_dev, effects);
	unsigned long due;
	unsigned int i;
	u64 down_for;
	bool up;

	spin_lock_bh(&effects->lock);
	due = effects->due;
	down_for = effects->down_for;
	effects->due = 0;
	spin_unlock_bh(&effects->lock);
	up = due & SRDMA_EFFECT_UP;
	due &= ~SRDMA_EFFECT_UP;
	for_each_set_bit(i, &due, BITS_PER_LONG)
		bring_about(dev, SRDMA_NL_ACT_PORT_DOWN + i, down_for);
	if (up)
		let_port_up(dev);
}

void srdma_dev_effects_init(struct srdma_dev *dev)
{
	spin_lock_init(&dev->effects.lock);
	INIT_WORK(&dev->effects.work, do_effects);
	INIT_DELAYED_WORK(&dev->effects.up, let_up);
}

/* Nothing happens to the device any more. Sleeps; without the RTNL. */
void srdma_dev_effects_end(struct srdma_dev *dev)
{
	spin_lock_bh(&dev->effects.lock);
	dev->effects.ended = true;
	spin_unlock_bh(&dev->effects.lock);
	cancel_work_sync(&dev->effects.work);
	cancel_delayed_work_sync(&dev->effects.up);
}
