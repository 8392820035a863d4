/* SPDX-License-Identifier: Apache-2.0 */
/*
 * application.c: says of each application how its pods are: how many, how many of them ready, what
 * they run, and whether that is enough for it to be available.
 *
 * It shows how what happens to one kind concerns another. A pod names its application by a label,
 * so a change of it brings that one back (`enqueue_application`): for an update the old state is
 * asked too, and a pod that goes from one to another is counted anew by both. No application is
 * looked for then, and no pod: the other way, an index of the cache finds the pods of one
 * application.
 *
 * Pods change in crowds. Keys come a moment after the change, and a key waits once: of a thousand
 * changes in that moment one look is left, which writes if the sum is another.
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

/* ---- which pods, which application ---- */

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

static int set_up(const kc_setup *setup, void **ret_user, kc_error *err)
{
    (void)ret_user;
    return kc_cache_index(kc_manager_cache(setup->manager), &kc_kind_pod, INDEX, by_application,
                          NULL, err);
}

/* ---- counting ---- */

typedef struct tally {
    int32_t pods, ready;
    kc_map images; /* Each once, to its text in `arena`. */
    kc_arena *arena;
} tally;

static void count_images(tally *t, const kc_value *containers)
{
    kc_items (containers, container) {
        const kc_str image = kc_as_str(kc_get(container, "image"));
        if (!image.n || kc_map_get(&t->images, image))
            continue;
        char *text = kc_arena_strndup(t->arena, image.p, image.n);
        kc_map_put(&t->images, kc_cstr(text), text);
    }
}

static void count(tally *t, const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *root = kc_view_root(view);
    const kc_str phase = kc_as_str(kc_dig(root, "status.phase"));
    if (kc_str_is(phase, "Succeeded") || kc_str_is(phase, "Failed") || kc_object_being_deleted(pod))
        return; /* It is there, but not for long, or for nothing. */
    t->pods++;
    t->ready += kc_condition_true(pod, KC_STR("Ready"));
    count_images(t, kc_dig(root, "spec.initContainers"));
    count_images(t, kc_dig(root, "spec.containers"));
}

static int count_all(kc_context *ctx, kc_key key, tally *t, kc_error *err)
{
    kc_scoped(kc_objects) pods = {0};
    kc_autofree char *value = index_value(key);
    const kc_list_opts its = {.index = INDEX, .value = value};
    if (kc_cache_list(ctx->cache, &kc_kind_pod, &its, &pods, err) < 0)
        return -1;
    for (size_t i = 0; i < pods.n; i++)
        count(t, pods.items[i]);
    return 0;
}

/* ---- the status ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void set_images(application *a, tally *t)
{
    char **images = kc_arena_calloc(t->arena, t->images.n + 1, sizeof(*images));
    size_t n = 0;
    kc_map_each (&t->images, entry)
        images[n++] = entry->value;
    qsort(images, n, sizeof(*images), by_text);
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
        kc_asprintf("%d of its pods %s ready, %d %s needed", ready, ready == 1 ? "is" : "are",
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

static void fill(application *a, tally *t, const kc_clock *clock)
{
    a->status.pods = t->pods;
    a->status.ready_pods = t->ready;
    a->status.observed_generation = a->metadata.generation;
    set_images(a, t);
    set_available(a, clock);
}

/* ---- the object ---- */

static void tell_change(kc_context *ctx, const application *before, const application *now)
{
    const kc_status_condition *was = find_available(before), *is = find_available(now);
    const bool was_available = was && !strcmp(was->status, "True");
    const bool is_available = is && !strcmp(is->status, "True");
    if (is_available != was_available)
        kc_event(ctx->recorder, now->metadata.origin, is_available ? KC_NORMAL : KC_WARNING,
                 is_available ? "Available" : "Unavailable", "%s", is ? is->message : "");
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(application) *a = application_get(ctx->client, req->key, err);
    if (!a)
        return kc_done_if_not_found(err);
    kc_auto(application) *before = application_copy(a);
    tally t = {.arena = a->metadata.arena};
    const int counted = count_all(ctx, req->key, &t, err);
    if (counted == 0)
        fill(a, &t, ctx->clock);
    kc_map_done(&t.images);
    if (counted < 0)
        return kc_retry(err);
    if (application_equal(a, before))
        return kc_done();
    if (application_update_status(ctx->client, a, err) < 0)
        return kc_done_if_not_found(err); /* It may have gone since we read it. */
    tell_change(ctx, before, a);
    return kc_done();
}

KC_RECONCILER(application) = {
    .description = "says how the pods of an application are",
    .kind = &application_kind,
    .watches = KC_WATCHES({.kind = &kc_kind_pod, .map = enqueue_application, .after = MOMENT}),
    .setup = set_up,
    .reconcile = reconcile,
};
