/* SPDX-License-Identifier: Apache-2.0 */
/*
 * per_namespace.c: see per_namespace.h.
 *
 * Keys are namespaces. They come with every change of a namespace, and with updates and deletions
 * of the object itself; that one was made is no news, since we did it or it is looked at with its
 * namespace anyway.
 *
 * Namespaces that are being deleted are left alone: nothing can be made in them, and what is there
 * has to go. Whoever writes at the same time as we do (another copy that still believes to lead)
 * makes us look again, without a word in the log.
 */
#include "common/per_namespace.h"

#include "common/refusals.h"

#include "kc/kinds.h"
#include "kc/view.h"

static bool is_active(const kc_object *ns)
{
    kc_auto(kc_view) *view = kc_view_of(ns);
    return kc_str_is(kc_as_str(kc_dig(kc_view_root(view), "status.phase")), "Active");
}

static kc_result follow(kc_error *err)
{
    if (kc_is_not_found(err) || kc__namespace_is_ending(err)) {
        kc_error_done(err);
        return kc_done();
    }
    return kc_is_already_exists(err) || kc_is_conflict(err) ? kc_again() : kc_retry(err);
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    const kc__per_namespace *what = ctx->user;
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
    const kc_result result = written < 0 ? follow(err) : kc_done();
    if (what->synced)
        what->synced(what->user, kc_clock_now(ctx->clock) - start, err);
    return result;
}

/* ---- setting up ---- */

static bool is_ours(kc_change_type type, const kc_change *change, void *user)
{
    const kc__per_namespace *what = user;
    return type != KC_CHANGE_CREATE && kc_str_is(kc_object_name(change->object), what->name);
}

static void namespace_of(const kc_object *object, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_enqueue(to, (kc_key){.name = kc_object_namespace(object)});
}

int kc__per_namespace_setup(kc_manager *manager, const kc__per_namespace *what, int workers,
                            kc_error *err)
{
    kc__per_namespace *kept = kc_new(kc__per_namespace);
    *kept = *what;
    kc_manager_keep(manager, kept, free);
    kc_controller *made =
        kc_controller_new(manager,
                          &(kc_controller_opts){
                              .name = what->controller,
                              .kind = &kc_kind_namespace,
                              .kind_predicate = kc_predicate_resource_version(),
                              .watches = KC_WATCHES({.kind = what->kind,
                                                     .map = namespace_of,
                                                     .predicate = kc_predicate_new(is_ours, kept)}),
                              .reconcile = reconcile,
                              .user = kept,
                              .workers = workers,
                          },
                          err);
    return made ? 0 : -1;
}
