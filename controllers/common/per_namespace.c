/* SPDX-License-Identifier: Apache-2.0 */
/*
 * per_namespace.c: see per_namespace.h.
 *
 * Keys are namespaces. Every change of a namespace and every update or deletion of the object adds
 * a key. A creation of the object adds none: this controller made it, or the change of its
 * namespace adds the key anyway.
 *
 * Terminating namespaces are skipped: the server refuses new objects there. If another replica that
 * still believes to be the leader writes at the same time, the conflict requeues the key without a
 * log line.
 */
#include "common/per_namespace.h"

#include "common/refusals.h"
#include "internal.h"

#include "kc/kinds.h"
#include "kc/view.h"

static bool is_active(const kc_object *ns)
{
    kc_auto(kc_view) *view = kc_view_of(ns);
    return kc_str_is(kc_value_as_str(kc_value_nested(kc_view_root(view), "status.phase")),
                     "Active");
}

static kc_result common_per_namespace_follow(kc_error *err)
{
    if (kc_is_not_found(err) || kc__common_namespace_is_terminating(err)) {
        kc_error_done(err);
        return kc_done();
    }
    return kc_is_already_exists(err) || kc_is_conflict(err) ? kc_requeue() : kc_retry(err);
}

static kc_result common_per_namespace_reconcile(kc_context *ctx, const kc_request *request,
                                                kc_error *err)
{
    const kc__common_per_namespace *what = ctx->user;
    const int64_t start = kc_clock_now(ctx->clock);
    kc_auto(kc_object) *ns =
        kc_client_get(ctx->client, &kc_kind_namespace, request->key, NULL, err);
    if (!ns)
        return kc_done_if_not_found(err);
    if (!is_active(ns))
        return kc_done();
    const kc_key key = {request->key.name, kc_cstr(what->name)};
    const int written =
        kc_create_or_update(ctx->client, what->kind, key, what->fill, what->user, NULL, err);
    const kc_result result = written < 0 ? common_per_namespace_follow(err) : kc_done();
    if (what->synced)
        what->synced(what->user, kc_clock_now(ctx->clock) - start, err);
    return result;
}

/* ---- setup ---- */

static bool common_per_namespace_is_ours(kc_change_type type, const kc_change *change, void *user)
{
    const kc__common_per_namespace *what = user;
    return type != KC_CHANGE_CREATE && kc_str_is(kc_object_name(change->object), what->name);
}

static void common_per_namespace_of(const kc_object *object, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_enqueue(to, (kc_key){.name = kc_object_namespace(object)});
}

int kc__common_per_namespace_setup(kc_manager *manager, const kc__common_per_namespace *what,
                                   const kc_controllers_opts *opts, kc_error *err)
{
    kc__common_per_namespace *kept = kc_new(kc__common_per_namespace);
    *kept = *what;
    kc_manager_defer(manager, kept, free);
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = what->controller,
            .field_manager = KC__CONTROLLERS_MANAGER,
            .kind = &kc_kind_namespace,
            .kind_predicate = kc_predicate_version_changed(),
            .watches =
                KC_WATCHES({.kind = what->kind,
                            .map = common_per_namespace_of,
                            .predicate = kc_predicate_new(common_per_namespace_is_ours, kept)}),
            .reconcile = common_per_namespace_reconcile,
            .user = kept,
            .act_as = kc__common_identity(opts, what->identity),
            .workers = opts->workers,
        },
        err);
    return made ? 0 : kc_error_result(err);
}
