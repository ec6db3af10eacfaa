// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Verbs that are refused, for the log. The driver does not see what the core
 * refuses before calling it.
 */
#include "objects/device.h"
#include "objects/qp.h"
#include "verbs/refuse.h"

static void add_numbers(struct srdma_cause *cause,
			const struct srdma_refused *refused)
{
	srdma_cause_begin(cause, refused->code);
	srdma_cause_add(cause, SRDMA_FACT_VALUE, refused->value);
	if (refused->limit)
		srdma_cause_add(cause, SRDMA_FACT_LIMIT, refused->limit);
}

static void report_refusal(struct srdma_dev *dev, struct srdma_error *error)
{
	struct srdma_error_log *log;

	/* Want of memory is a reason not to have a record. */
	if (srdma_errors_join(&dev->errors, true, &log))
		return;
	srdma_errors_add(&dev->errors, log, error);
	srdma_errors_leave(&dev->errors, log);
}

/**
 * srdma_refuse - refuse a verb
 * @ib: device
 * @is_user: the current process calls it, and may sleep; a kernel consumer, which
 *	may not, has no record
 * @refused: why
 *
 * Return: its errno, so that a verb can return that at once.
 */
int srdma_refuse(struct ib_device *ib, bool is_user,
		 const struct srdma_refused *refused)
{
	struct srdma_error error = {
		.part = SRDMA_PART_VERB,
		.err = -refused->err,
	};

	if (!is_user)
		return refused->err;
	srdma_maker_init(&error.maker, true);
	add_numbers(&error.cause, refused);
	report_refusal(to_sdev(ib), &error);
	return refused->err;
}

/**
 * srdma_refuse_by_rule - refuse a verb if a rule says so
 * @ib: device
 * @is_user: as for srdma_refuse()
 * @verb: which
 * @qpn: QP that it is about, or 0
 *
 * Return: 0, or the error to fail with.
 */
int srdma_refuse_by_rule(struct ib_device *ib, bool is_user,
			 enum srdma_nl_verb verb, u32 qpn)
{
	int err = srdma_rules_verb(&to_sdev(ib)->rules, verb, qpn);

	if (!err)
		return 0;
	return srdma_refuse(ib, is_user,
			    SRDMA_REFUSED(VERB_RULE, -err, verb, 0));
}

/**
 * srdma_refuse_beyond - count one more object, or refuse it
 * @dev: device
 * @is_user: as for srdma_refuse()
 * @kind: of what
 *
 * Return: 0, or -ENOMEM at the limit. srdma_dev_uncount() is to follow.
 */
int srdma_refuse_beyond(struct srdma_dev *dev, bool is_user,
			enum srdma_object kind)
{
	int err = srdma_dev_count(dev, kind);

	if (!err)
		return 0;
	return srdma_refuse(&dev->ib, is_user,
			    SRDMA_REFUSED(VERB_OBJECTS, -err, kind,
					  dev->bounds.objects[kind]));
}

/**
 * srdma_refuse_modify - refuse to change a QP
 * @qp: queue pair; its mutex is held
 * @index: bits of the attributes that it is about
 * @refused: why
 *
 * Return: its errno.
 */
int srdma_refuse_modify(const struct srdma_qp *qp, u32 index,
			const struct srdma_refused *refused)
{
	struct srdma_error error = {
		.part = SRDMA_PART_VERB,
		.err = -refused->err,
		.qpn = qp->qpn,
	};

	srdma_maker_init(&error.maker, qp->is_user);
	add_numbers(&error.cause, refused);
	srdma_cause_add(&error.cause, SRDMA_FACT_INDEX, index);
	srdma_cause_add(&error.cause, SRDMA_FACT_STATE, qp->state);
	srdma_errors_add(&qp->dev->errors, qp->errors, &error);
	return refused->err;
}
