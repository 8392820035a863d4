/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c: waits for a condition of one object, with a watch on its name.
 *
 * Each round lists the object (a list of one, whose resourceVersion is where the watch starts, so
 * that no change is missed in between) and then watches it. When the watch ends, fails or has
 * expired, the next round starts; after one second if this round delivered nothing.
 */
#include "kc/wait.h"

#include "kc/conditions.h"

typedef struct wait_for_waiting {
    kc_client *client;
    const kc_kind *kind;
    kc_key key;
    kc_until_fn *until;
    const void *user;
    int64_t deadline;
    char *ns, *selector;
    kc_object *object; /* The newest version seen; NULL while the object does not exist. */
} wait_for_waiting;

static void wait_for_waiting_done(wait_for_waiting *w)
{
    free(w->ns);
    free(w->selector);
    kc_object_unref(w->object);
}

bool kc_until_condition(const kc_object *object, const void *type)
{
    return object && kc_condition_true(object, kc_cstr(type));
}

bool kc_until_gone(const kc_object *object, const void *unused)
{
    (void)unused;
    return !object;
}

bool kc_until_exists(const kc_object *object, const void *unused)
{
    (void)unused;
    return object;
}

/* Takes the reference. True when the object meets the condition. */
static bool wait_for_inspect(wait_for_waiting *w, kc_object *object)
{
    kc_object_unref(w->object);
    w->object = object;
    return w->until(object, w->user);
}

static bool wait_for_is_finished(const wait_for_waiting *w)
{
    return kc_clock_now(kc_client_clock(w->client)) >= w->deadline;
}

/* 1: the condition is met. 0: it is not, or the watch has ended. Negative: waiting cannot
 * succeed. */
static int wait_for_follow(wait_for_waiting *w, const char *from, kc_error *err)
{
    kc_watch_opts opts = {.ns = w->ns, .fields = w->selector, .resource_version = from};
    kc_auto(kc_watch) *watch = kc_client_watch(w->client, w->kind, &opts, err);
    kc_watch_event event;
    int got;
    if (!watch)
        return kc_error_result(err);
    while ((got = kc_watch_next(watch, w->deadline, &event, err)) > 0) {
        bool gone = event.type == KC_WATCH_DELETED;
        if (gone)
            event.object = kc_object_unref(event.object);
        if (wait_for_inspect(w, event.object))
            return 1;
    }
    return got;
}

static int round_of(wait_for_waiting *w, kc_error *err)
{
    kc_list_opts opts = {.ns = w->ns, .fields = w->selector, .live = true};
    kc_scoped(kc_object_list) list = {0};
    if (kc_client_list(w->client, w->kind, &opts, &list, err) < 0)
        return kc_error_result(err);
    if (wait_for_inspect(w, list.n ? kc_object_ref(list.items[0]) : NULL))
        return 1;
    return wait_for_follow(w, list.resource_version, err);
}

/* Errors that a retry can resolve. */
static bool is_passing(const kc_error *err)
{
    return kc_is_expired(err) || kc_is_gone(err) || kc_is_timeout(err) || kc_is_unavailable(err) ||
           kc_is_too_many_requests(err) || kc_error_has_reason(err, KC_INTERNAL);
}

static int too_late(const wait_for_waiting *w, kc_error *err)
{
    return kc_error_set(err, KC_TIMEOUT, "timed out waiting for %s %.*s", w->kind->kind,
                        KC_ARG(w->key.name));
}

static int until_so(wait_for_waiting *w, kc_error *err)
{
    const kc_clock *clock = kc_client_clock(w->client);
    for (;;) {
        kc_scoped(kc_error) failed = {0};
        int so = round_of(w, &failed);
        if (so > 0)
            return 0;
        if (wait_for_is_finished(w))
            return too_late(w, err);
        if (so < 0 && !is_passing(&failed))
            return kc_error_move(err, &failed);
        kc_clock_sleep_until(clock, KC_MIN(w->deadline, kc_clock_deadline(clock, KC_SECOND)));
    }
}

int kc_wait_for(kc_client *client, const kc_kind *kind, kc_key key, kc_until_fn *until,
                const void *user, int64_t timeout, kc_object **ret, kc_error *err)
{
    kc_scoped(wait_for_waiting) w = {
        .client = client,
        .kind = kind,
        .key = key,
        .until = until,
        .user = user,
        .deadline = timeout ? kc_clock_deadline(kc_client_clock(client), timeout) : KC_FOREVER,
        .ns = key.ns.n ? kc_strndup(key.ns.p, key.ns.n) : NULL,
        .selector = kc_asprintf("metadata.name=%.*s", KC_ARG(key.name)),
    };
    int done = until_so(&w, err);
    if (done == 0 && ret)
        *ret = kc_take(w.object);
    return done;
}
