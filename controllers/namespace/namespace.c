/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace.c: finalizes terminating namespaces. It deletes all content of the namespace and then
 * removes the finalizer "kubernetes" from spec.finalizers through the finalize subresource. The
 * server then deletes the namespace, unless it has other finalizers.
 *
 *     deleted ──5 s──▶ Terminating ──▶ purge.c ──▶ status.conditions ──▶ finalize
 *                          ▲                │ content waits for a grace period or a finalizer
 *                          └────────────────┘ half of the estimated time, plus one second
 *
 * The delay of five seconds lets every API server observe the deletion, so that none accepts new
 * objects while the content is deleted. All reads go to the server and not to the cache: an object
 * missing from a stale cache would be left behind. A failed purge never finalizes; it is retried
 * within a minute.
 */
#include "internal.h"

#include "namespace/purge.h"

#include "kc/controller.h"
#include "kc/create_or_update.h"
#include "kc/kinds.h"
#include "kc/view.h"

#define FINALIZER "kubernetes"
#define HOLD_BACK (5 * KC_SECOND)
#define LONGEST   (60 * KC_SECOND)

/* ---- phase ---- */

static int terminate(kc_edit *edit, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    kc_edit_set_nested(edit, "status.phase", kc_node_str(edit, KC_STR("Terminating")));
    return 0;
}

static bool has_finalizers(const kc_object *ns)
{
    kc_auto(kc_view) *view = kc_view_of(ns);
    return kc_value_len(kc_value_nested(kc_view_root(view), "spec.finalizers")) > 0;
}

/* ---- conditions ---- */

static int put_conditions(kc_edit *edit, void *user, kc_error *err)
{
    (void)err;
    kc__purge_conditions(user, edit);
    return 0;
}

/* The conditions are informational: a failed write does not stop the purge. */
static void write_conditions(kc_context *ctx, const kc_object *ns, kc__purge *purge)
{
    kc_scoped(kc_error) err = {0};
    if (kc_mutate_status(ctx->client, ns, put_conditions, purge, NULL, &err) < 0 &&
        !kc_is_not_found(&err))
        kc_log_verbose(ctx->log, 2, "failed to update namespace conditions", kc_kv("err", &err));
}

/* ---- finalizing ---- */

typedef struct finalization {
    kc_client *client;
    const kc_object *ns;
} finalization;

/* False if the finalizer was not there. */
static bool remove_finalizer(kc_edit *edit)
{
    const kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node *list = kc_node_get(spec, KC_STR("finalizers"));
    for (size_t i = 0; i < kc_node_len(list); i++)
        if (kc_str_is(kc_node_as_str(kc_node_at(list, i)), FINALIZER)) {
            kc_node_remove_at(list, i);
            return true;
        }
    return false;
}

/* Reads the namespace again: the conditions were written, and others may have changed
 * finalizers. */
static int finalize(void *user, kc_error *err)
{
    const finalization *f = user;
    kc_auto(kc_object) *now =
        kc_client_get(f->client, &kc_kind_namespace, kc_object_key(f->ns), NULL, err);
    if (!now)
        return kc_error_result(err);
    if (!kc_str_eq(kc_object_uid(now), kc_object_uid(f->ns)))
        return 0; /* Another namespace with the same name. */
    kc_auto(kc_edit) *edit = kc_edit_of(now);
    if (!remove_finalizer(edit))
        return 0;
    kc_auto(kc_object) *wanted = kc_edit_freeze(edit, err);
    kc_auto(kc_object) *done =
        wanted
            ? kc_client_update(f->client, wanted, &(kc_write_opts){.subresource = "finalize"}, err)
            : NULL;
    return done ? 0 : kc_error_result(err);
}

/* ---- reconcile ---- */

static kc_result purge(kc_context *ctx, kc_client *live, const kc_object *ns, kc_error *err)
{
    kc_autofree char *name = kc_str_dup(kc_object_name(ns));
    kc_scoped(kc__purge) p = {.client = live, .clock = ctx->clock, .ns = name};
    if (kc_time_parse(kc_object_deletion_timestamp(ns), &p.deleted_at, err) < 0)
        return kc_retry(err);
    const bool all_well = kc__purge_run(&p);
    write_conditions(ctx, ns, &p);
    if (!all_well) {
        kc__purge_error(&p, err);
        return kc_retry(err);
    }
    if (p.estimate) {
        kc_log_verbose(ctx->log, 4, "namespace content remains", kc_kv("seconds", p.estimate));
        return kc_requeue_after((p.estimate / 2 + 1) * KC_SECOND);
    }
    finalization f = {live, ns};
    return kc_retry_on_conflict(live, finalize, &f, err) < 0 ? kc_done_if_not_found(err)
                                                             : kc_done();
}

static kc_result purge_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_client) *live =
        kc_client_with(ctx->client, &(kc_client_overrides){.read_live = true});
    kc_auto(kc_object) *ns = kc_client_get(live, &kc_kind_namespace, request->key, NULL, err);
    kc_auto(kc_object) *terminating = NULL;
    if (!ns)
        return kc_done_if_not_found(err);
    if (!kc_object_being_deleted(ns))
        return kc_done();
    if (kc_mutate_status(live, ns, terminate, NULL, &terminating, err) < 0)
        return kc_is_conflict(err) ? kc_requeue() : kc_done_if_not_found(err);
    return has_finalizers(terminating) ? purge(ctx, live, terminating, err) : kc_done();
}

static bool is_being_deleted(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type != KC_CHANGE_DELETE && kc_object_being_deleted(change->object);
}

int kc__purge_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc_rate_limiter *limiter =
        kc_rate_limiter_max_of(kc_rate_limiter_exponential(5 * KC_MILLISECOND, LONGEST),
                               kc_rate_limiter_bucket(kc_manager_clock(manager), 10, 100));
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "namespace",
            .field_manager = KC__CONTROLLERS_MANAGER,
            .watches = KC_WATCHES({.kind = &kc_kind_namespace,
                                   .predicate = kc_predicate_new(is_being_deleted, NULL),
                                   .after = HOLD_BACK}),
            .reconcile = purge_reconcile,
            .act_as = kc__common_identity(opts, KC__COMMON_NAMESPACE),
            .workers = opts->workers,
            .limiter = limiter,
        },
        err);
    return made ? 0 : kc_error_result(err);
}
