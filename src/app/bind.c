/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c: turns a definition into a controller of a manager.
 *
 * `reconcile` below wraps the reconciler: it drops keys and objects that the filters exclude, sets
 * the user pointer of the call, and dispatches to a machine or a function. Where possible the
 * filters also apply before the queue (a predicate of the kind), but owned or mapped objects add
 * keys that the predicate has not seen.
 */
#include "app/app_internal.h"

#include "kc/selector.h"

typedef struct binding {
    const char *name;
    const kc_reconciler *reconciler;
    const kc_kind *kind;
    kc__app_phase_controller *machine; /* NULL: a function. */
    void *user;
    kc_manager *manager;
    bool crash_recovery;
    kc_selector *labels; /* NULL: all. */
    kc_arena settings;   /* Values of its settings. */
    kc_channel *channel;
} binding;

static void binding_free(void *state)
{
    binding *b = state;
    kc_selector_free(b->labels);
    kc_arena_done(&b->settings);
    kc_channel_unref(b->channel);
    free(b);
}

/* ---- one call ---- */

static bool namespace_passes(const kc_reconciler *r, kc_str ns)
{
    return !r->namespaces || kc_str_is_any(ns, r->namespaces);
}

static bool key_passes(const kc_reconciler *r, kc_key key)
{
    return namespace_passes(r, key.ns) && (!r->key_filter || r->key_filter(key));
}

/* A deleted object passes: the reconciler must see the deletion. */
static bool labels_pass(const binding *b, kc_context *ctx, kc_key key)
{
    if (!b->labels)
        return true;
    kc_auto(kc_object) *object = kc_client_get(ctx->client, b->kind, key, NULL, NULL);
    return !object || kc_selector_match(b->labels, object);
}

static kc_result app_bind_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    const binding *b = ctx->user;
    if (!key_passes(b->reconciler, request->key) || !labels_pass(b, ctx, request->key))
        return kc_done();
    kc_context own = *ctx;
    own.user = b->user;
    return b->machine ? kc__app_phase_reconcile(b->machine, &own, request->key, err)
                      : b->reconciler->reconcile(&own, request, err);
}

/* ---- its controller ---- */

static bool filter_passes(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    return key_passes(user, kc_object_key(change->object));
}

static kc_predicate *kind_predicate(const binding *b, kc_error *err)
{
    const kc_reconciler *r = b->reconciler;
    const bool filtered = r->key_filter || r->namespaces;
    return kc_predicate_and(filtered ? kc_predicate_new(filter_passes, (void *)r) : NULL,
                            r->labels ? kc_predicate_label_selector(r->labels, err) : NULL,
                            r->machine ? kc__app_phase_predicate() : NULL);
}

static int add_controller(binding *b, int workers, kc_error *err)
{
    const kc_reconciler *r = b->reconciler;
    kc_scoped(kc_error) bad = {0};
    kc_controller_opts opts = {
        .name = b->name,
        .component = b->name,
        .kind = b->kind,
        .kind_predicate = kind_predicate(b, &bad),
        .owns = r->owns,
        .watches = r->watches,
        .sources = KC_SOURCES(kc_source_channel(b->channel)),
        .predicate = r->predicate ? r->predicate(&bad) : NULL,
        .reconcile = app_bind_reconcile,
        .user = b,
        .code = r,
        .workers = r->workers ? r->workers : workers,
        .timeout = r->timeout,
        .resync = r->resync,
        .crash_recovery = b->crash_recovery,
    };
    const bool made = kc_controller_new(b->manager, &opts, &bad);
    return made ? 0 : kc_error_move(err, &bad);
}

/* ---- after cache sync ---- */

static int wait_and_call(kc_cancel *stop, void *user, kc_error *err)
{
    binding *b = user;
    kc_auto(kc_informer) *informer =
        b->kind ? kc_cache_informer(kc_manager_cache(b->manager), b->kind, err) : NULL;
    if (b->kind && !informer)
        return kc_error_result(err);
    if (informer && !kc_informer_wait_synced(informer, KC_FOREVER, stop))
        return 0;
    return b->reconciler->after_sync(b->manager, b->user, err);
}

static int add_after_sync(binding *b, kc_error *err)
{
    if (!b->reconciler->after_sync)
        return 0;
    return kc_manager_add(b->manager,
                          &(kc_runnable){.name = b->name, .run = wait_and_call, .user = b}, err);
}

/* ---- setup ---- */

int kc__app_reconciler_check(const kc_app_entry *entry, kc_error *err)
{
    const kc_reconciler *r = entry->reconciler;
    if (r->reconcile && r->machine)
        return kc_error_set(err, KC_INVALID, "both a function and a phase machine are set");
    if (!r->reconcile && !r->machine && !r->setup)
        return kc_error_set(err, KC_INVALID, "no function, phase machine or setup is set");
    if (r->reconcile && !r->kind && !r->watches)
        return kc_error_set(err, KC_INVALID, "no kind and no watches are set");
    if (r->labels && !r->kind && !r->machine)
        return kc_error_set(err, KC_INVALID, "a label selector requires a kind");
    if (r->workers < 0)
        return kc_error_set(err, KC_INVALID, "invalid number of workers: %d", r->workers);
    return r->machine ? kc_phase_check(r->machine, err) : 0;
}

static int call_setup(binding *b, const kc_app_config *config, kc_error *err)
{
    const kc_reconciler *r = b->reconciler;
    const kc_reconciler_setup setup = {
        .manager = b->manager,
        .channel = b->channel,
        .settings = kc__app_settings_of(config, b->name, r->settings, &b->settings)};
    return r->setup ? r->setup(&setup, &b->user, err) : 0;
}

static int app_bind_setup(binding *b, const kc_app_config *config, kc_error *err)
{
    const kc_reconciler *r = b->reconciler;
    if (r->labels && !(b->labels = kc_selector_parse(kc_cstr(r->labels), err)))
        return kc_error_wrap(err, "labels");
    if (call_setup(b, config, err) < 0)
        return kc_error_result(err);
    if (r->machine &&
        !(b->machine = kc__app_phase_controller_new(b->name, r->machine, b->manager, err)))
        return kc_error_result(err);
    if ((r->reconcile || r->machine) && add_controller(b, config->manager.concurrence, err) < 0)
        return kc_error_result(err);
    return add_after_sync(b, err);
}

int kc__app_reconciler_bind(const kc_app_entry *entry, kc_manager *manager,
                            const kc_app_config *config, kc_error *err)
{
    binding *b = kc_new(binding);
    b->name = entry->name;
    b->reconciler = entry->reconciler;
    b->kind = entry->kind;
    b->manager = manager;
    b->crash_recovery = entry->crash_recovery;
    b->channel = kc_channel_new();
    kc_manager_defer(manager, b, binding_free);
    return app_bind_setup(b, config, err);
}
