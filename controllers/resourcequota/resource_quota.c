/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_quota.c: keeps the status of ResourceQuotas: the limits that the API server enforces
 * (status.hard) and what is used of them (status.used). The API server adds to the usage when it
 * stores an object; this controller recalculates it when a quota changes, when objects are deleted,
 * and every five minutes.
 *
 * Two controllers of the manager: one runs the monitors (quota_monitors.c), the other processes
 * quotas. When a status changes the limits, the usage is calculated once more: until the status was
 * written, objects could be created that charged nothing.
 */
#include "resourcequota/quota_controller.h"

#include "common/identities.h"

#include "internal.h"

#include "kc/controller.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "kc/kinds.h"

#define RESYNC (5 * KC_MINUTE)

const kc_kind kc__rq_kind = {.version = "v1",
                             .kind = "ResourceQuota",
                             .plural = "resourcequotas",
                             .singular = "resourcequota",
                             .namespaced = true};

/* ---- the status of a quota ---- */

/* Whether two lists have the same names and amounts. */
static bool is_same_list(const kc_value *a, const kc_value *b)
{
    kc_quota_amount x, y;
    if (kc_value_len(a) != kc_value_len(b))
        return false;
    kc_value_each_member (a, name, value)
        if (!kc_quota_amount_read(value, &x) ||
            !kc_quota_amount_read(kc_value_get_str(b, name), &y) ||
            kc_quantity_cmp(x.value, y.value) != 0)
            return false;
    return true;
}

/* The usage of names in spec.hard: as calculated, or as it was where nothing tracks the name. */
static void merge_usage(const kc_value *quota, const kc_quota_amounts *calculated,
                        kc_quota_amounts *ret)
{
    const kc_value *used = kc_value_nested(quota, "status.used");
    kc_quota_amount amount;
    kc_value_each_member (kc_value_nested(quota, "spec.hard"), name, value) {
        (void)value;
        if (kc_quota_amount_of(calculated, name, &amount) ||
            kc_quota_amount_read(kc_value_get_str(used, name), &amount))
            kc_quota_amounts_set(ret, name, &amount);
    }
}

static kc_object *with_status(const kc_object *quota, const kc_value *root,
                              const kc_quota_amounts *used, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_quota_amounts_write(&text, used);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, err);
    kc_auto(kc_edit) *edit = kc_edit_of(quota);
    kc_node *status = kc_node_object(edit);
    const kc_value *hard = kc_value_nested(root, "spec.hard");
    kc_node_set(edit, status, KC_STR("hard"),
                hard ? kc_node_from_value(edit, hard) : kc_node_object(edit));
    kc_node_set(edit, status, KC_STR("used"), kc_node_from_value(edit, kc_view_root(view)));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("status"), status);
    return kc_edit_freeze(edit, err);
}

static bool has_current_status(const kc_value *quota, const kc_object *wanted)
{
    const kc_value *status = kc_value_get(quota, "status");
    kc_auto(kc_view) *view = kc_view_of(wanted);
    return is_same_list(kc_value_get(status, "hard"),
                        kc_value_nested(kc_view_root(view), "status.hard")) &&
           is_same_list(kc_value_get(status, "used"),
                        kc_value_nested(kc_view_root(view), "status.used"));
}

/* Writes the status. Requeues after a conflict, and after new limits. */
static kc_result write_quota_status(kc_context *ctx, const kc_value *old, const kc_object *wanted,
                                    kc_error *err)
{
    const bool new_limits =
        !is_same_list(kc_value_nested(old, "status.hard"), kc_value_nested(old, "spec.hard"));
    kc_auto(kc_object) *written = kc_client_update_status(ctx->client, wanted, err);
    if (written)
        return kc_requeue_after(new_limits ? 1 : RESYNC);
    if (kc_is_not_found(err))
        return kc_done_if_not_found(err);
    return kc_is_conflict(err) ? kc_requeue() : kc_retry(err);
}

static kc_result rq_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__rq *rq = ctx->user;
    kc_auto(kc_object) *quota =
        kc_client_get(ctx->client, &kc__rq_kind, request->key, &(kc_get_opts){.live = true}, err);
    kc_scoped(kc_quota_amounts) calculated = {0};
    kc_scoped(kc_quota_amounts) used = {0};
    if (!quota)
        return kc_done_if_not_found(err);
    kc_auto(kc_view) *view = kc_view_of(quota);
    const kc_value *root = kc_view_root(view);
    if (kc__rq_usage(rq, ctx->client, request->key.ns, root, &calculated, err) < 0)
        return kc_retry(err);
    merge_usage(root, &calculated, &used);
    kc_auto(kc_object) *wanted = with_status(quota, root, &used, err);
    if (!wanted)
        return kc_retry(err);
    return has_current_status(root, wanted) ? kc_requeue_after(RESYNC)
                                            : write_quota_status(ctx, root, wanted, err);
}

/* ---- sources ---- */

static int connect_queue(void *state, kc_queue *queue, kc_error *err)
{
    kc__rq *rq = state;
    (void)err;
    kc_locked (&rq->mutex)
        rq->queue = queue;
    return 0;
}

/* Workers start when the server's resources are known. */
static bool wait_discovered(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    kc__rq *rq = state;
    (void)err;
    while (!kc__rq_has_discovered(rq) && kc_clock_now(rq->clock) < deadline)
        if (!kc_cancel_sleep_until(cancel, rq->clock,
                                   kc_clock_deadline(rq->clock, 20 * KC_MILLISECOND)))
            return false;
    return kc__rq_has_discovered(rq);
}

static void disconnect_queue(void *state)
{
    kc__rq *rq = state;
    kc_locked (&rq->mutex)
        rq->queue = NULL;
}

static const kc_source_ops replenishment_ops = {connect_queue, wait_discovered, disconnect_queue,
                                                NULL};

static const kc_key resources_key = {.name = KC_STR_INIT("resources")};

static void definition_changed(const kc_object *object, kc_enqueuer *to, void *user)
{
    (void)object;
    (void)user;
    kc_enqueue(to, resources_key);
}

static int discover_at_start(void *state, kc_queue *queue, kc_error *err)
{
    (void)state;
    (void)err;
    kc_queue_add(queue, resources_key);
    return 0;
}

static const kc_source_ops discovery_ops = {.start = discover_at_start};

/* Only the spec decides: the status is this controller's, and the API server's. */
static bool has_new_limits(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    if (type != KC_CHANGE_UPDATE)
        return type == KC_CHANGE_CREATE;
    kc_auto(kc_view) *old = kc_view_of(change->old);
    kc_auto(kc_view) *now = kc_view_of(change->object);
    return !kc_value_equal(kc_value_get(kc_view_root(old), "spec"),
                           kc_value_get(kc_view_root(now), "spec"), NULL);
}

/* ---- setup ---- */

static void rq_free(void *state)
{
    kc__rq *rq = state;
    kc__rq_stop_monitors(rq);
    kc_mutex_done(&rq->mutex);
    free(rq);
}

static kc__rq *rq_new(kc_manager *manager)
{
    kc__rq *rq = kc_new(kc__rq);
    rq->cache = kc_manager_cache(manager);
    rq->clock = kc_manager_clock(manager);
    kc_mutex_init(&rq->mutex);
    kc_manager_defer(manager, rq, rq_free);
    return rq;
}

int kc__rq_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__rq *rq = rq_new(manager);
    const kc_controller_opts monitors = {
        .name = "resourcequota_resources",
        .act_as = kc__common_identity(opts, KC__COMMON_RESOURCE_QUOTA),
        .watches = KC_WATCHES({.kind = &kc_kind_custom_resource_definition,
                               .map = definition_changed,
                               .metadata_only = true}),
        .sources = KC_SOURCES(kc_source_new(&discovery_ops, rq)),
        .reconcile = kc__rq_monitor_resources,
        .user = rq,
    };
    const kc_controller_opts quotas = {
        .name = "resourcequota",
        .field_manager = KC__CONTROLLERS_MANAGER,
        .act_as = kc__common_identity(opts, KC__COMMON_RESOURCE_QUOTA),
        .kind = &kc__rq_kind,
        .kind_predicate = kc_predicate_new(has_new_limits, NULL),
        .sources = KC_SOURCES(kc_source_new(&replenishment_ops, rq)),
        .reconcile = rq_reconcile,
        .user = rq,
        .workers = opts->workers,
    };
    bool made = kc_controller_new(manager, &monitors, err);
    made = kc_controller_new(manager, &quotas, err) && made;
    return made ? 0 : kc_error_result(err);
}
