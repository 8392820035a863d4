/* SPDX-License-Identifier: Apache-2.0 */
/*
 * application.c: reports in each Application's status how many pods it has, how many are ready,
 * what they run, and whether that is enough to be available.
 *
 * It demonstrates a watch of another kind. A pod names its application by a label, so a change of
 * the pod queues that application (`enqueue_application`): for an update the old state is mapped
 * too, so that a pod that moves between applications queues both. No application or pod is searched
 * then; in the other direction, a cache index finds the pods of an application.
 *
 * Pods change in bursts. Keys are added with a short delay, and a key is queued once: a thousand
 * changes in that time cause one reconcile, which writes only if the counts have changed.
 */
#include "api/apps_v1alpha1/zz_generated.h"

#include "kc/app.h"
#include "kc/conditions.h"
#include "kc/kinds.h"
#include "kc/map.h"
#include "kc/vec.h"
#include "kc/view.h"

#define LABEL  KC_STR("apps.example.io/application")
#define INDEX  "application"
#define MOMENT (100 * KC_MILLISECOND)

enum { MAX_IMAGES = 32 };

/* ---- map functions and index ---- */

static void enqueue_application(const kc_object *pod, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_scoped(kc_arena) arena = {0};
    const kc_str name = kc_object_label(pod, LABEL, &arena);
    if (name.n)
        kc_enqueue(to, (kc_key){kc_object_namespace(pod), name});
}

static char *index_value(kc_key key)
{
    return kc_asprintf("%.*s/%.*s", KC_ARG(key.ns), KC_ARG(key.name));
}

static void by_application(const kc_object *pod, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_scoped(kc_arena) arena = {0};
    const kc_str name = kc_object_label(pod, LABEL, &arena);
    kc_autofree char *value = name.n ? index_value((kc_key){kc_object_namespace(pod), name}) : NULL;
    if (value)
        emit(kc_cstr(value), to);
}

static int application_setup_local(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    (void)ret_user;
    return kc_cache_add_index(kc_manager_cache(setup->manager), &kc_kind_pod, INDEX, by_application,
                              NULL, err);
}

/* ---- counts ---- */

typedef struct application_tally {
    int32_t pods, ready;
    kc_map images; /* Distinct texts, in `arena`. */
    kc_arena *arena;
} application_tally;

static void count_images(application_tally *t, const kc_value *containers)
{
    kc_value_each_item (containers, container) {
        const kc_str image = kc_value_as_str(kc_value_get(container, "image"));
        if (!image.n || kc_map_get(&t->images, image))
            continue;
        char *text = kc_arena_strndup(t->arena, image.p, image.n);
        kc_map_put(&t->images, kc_cstr(text), text);
    }
}

static void application_count(application_tally *t, const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *root = kc_view_root(view);
    const kc_str phase = kc_value_as_str(kc_value_nested(root, "status.phase"));
    if (kc_str_is(phase, "Succeeded") || kc_str_is(phase, "Failed") || kc_object_being_deleted(pod))
        return; /* The pod exists but is terminating or terminated. */
    t->pods++;
    t->ready += kc_condition_true(pod, KC_STR("Ready"));
    count_images(t, kc_value_nested(root, "spec.initContainers"));
    count_images(t, kc_value_nested(root, "spec.containers"));
}

static int count_all(kc_context *ctx, kc_key key, application_tally *t, kc_error *err)
{
    kc_scoped(kc_object_list) pods = {0};
    kc_autofree char *value = index_value(key);
    const kc_list_opts its = {.index = INDEX, .value = value};
    if (kc_cache_list(ctx->cache, &kc_kind_pod, &its, &pods, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < pods.n; i++)
        application_count(t, pods.items[i]);
    return 0;
}

/* ---- status ---- */

static int application_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void set_images(application *a, application_tally *t)
{
    char **images = kc_arena_calloc(t->arena, t->images.n + 1, sizeof(*images));
    size_t n = 0;
    kc_map_each (&t->images, entry)
        images[n++] = entry->value;
    qsort(images, n, sizeof(*images), application_by_text);
    a->status.images = images;
    a->status.n_images = KC_MIN(n, (size_t)MAX_IMAGES);
}

static const kc_status_condition *find_available(const application *a)
{
    for (size_t i = 0; i < a->status.n_conditions; i++)
        if (!strcmp(a->status.conditions[i].type, "Available"))
            return &a->status.conditions[i];
    return NULL;
}

static void set_available(application *a, const kc_clock *clock)
{
    const int32_t ready = a->status.ready_pods, needed = a->spec.min_ready ? *a->spec.min_ready : 1;
    kc_autofree char *message =
        kc_asprintf("%d of its pods %s ready, %d %s required", ready, ready == 1 ? "is" : "are",
                    needed, needed == 1 ? "is" : "are");
    const bool is_enough = ready >= needed;
    const kc_status_condition available = {
        .type = (char *)"Available",
        .status = (char *)(is_enough ? "True" : "False"),
        .observed_generation = a->metadata.generation,
        .reason = (char *)(is_enough ? "EnoughPodsReady" : "TooFewPodsReady"),
        .message = message,
    };
    kc_status_condition_set(&a->status.conditions, &a->status.n_conditions, a->metadata.arena,
                            clock, &available);
}

static void application_fill(application *a, application_tally *t, const kc_clock *clock)
{
    a->status.pods = t->pods;
    a->status.ready_pods = t->ready;
    a->status.observed_generation = a->metadata.generation;
    set_images(a, t);
    set_available(a, clock);
}

/* ---- reconcile ---- */

static void record_change(kc_context *ctx, const application *before, const application *now)
{
    const kc_status_condition *was = find_available(before), *is = find_available(now);
    const bool was_available = was && !strcmp(was->status, "True");
    const bool is_available = is && !strcmp(is->status, "True");
    if (is_available != was_available)
        kc_recorder_event(ctx->recorder, now->metadata.origin,
                          is_available ? KC_EVENT_TYPE_NORMAL : KC_EVENT_TYPE_WARNING,
                          is_available ? "Available" : "Unavailable", "%s", is ? is->message : "");
}

static kc_result application_reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(application) *a = application_get(ctx->client, req->key, err);
    if (!a)
        return kc_done_if_not_found(err);
    kc_auto(application) *before = application_copy(a);
    application_tally t = {.arena = a->metadata.arena};
    const int counted = count_all(ctx, req->key, &t, err);
    if (counted == 0)
        application_fill(a, &t, ctx->clock);
    kc_map_done(&t.images);
    if (counted < 0)
        return kc_retry(err);
    if (application_equal(a, before))
        return kc_done();
    if (application_update_status(ctx->client, a, err) < 0)
        return kc_done_if_not_found(err); /* The object may have been deleted since it was read. */
    record_change(ctx, before, a);
    return kc_done();
}

KC_RECONCILER(application) = {
    .description = "reports the state of an application's pods",
    .kind = &application_kind,
    .watches = KC_WATCHES({.kind = &kc_kind_pod, .map = enqueue_application, .after = MOMENT}),
    .setup = application_setup_local,
    .reconcile = application_reconcile,
};
