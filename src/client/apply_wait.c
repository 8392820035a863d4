/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_wait.c: waiting for kinds that come.
 *
 * A server answers a definition before it serves what that defines: first it finds out whether the
 * names are free (condition NamesAccepted), then it says Established, then discovery shows the kind
 * (some servers take a moment more for that). We wait for all three, and give up at once where
 * waiting cannot help: the names are another's, or nobody has defined the kind.
 */
#include "client/apply_internal.h"

#include "client/client_internal.h"
#include "kc/kinds.h"

#define FIRST_PAUSE KC_MILLISECOND
#define MAX_PAUSE   (100 * KC_MILLISECOND)

typedef struct patience {
    const kc_clock *clock;
    int64_t deadline, pause;
} patience;

static patience patience_of(kc_client *client, int64_t timeout)
{
    const kc_clock *clock = kc_client_clock(client);
    return (patience){clock, kc_clock_deadline(clock, timeout), FIRST_PAUSE};
}

/* Sleeps a little; false when it is time to give up. */
static bool wait_more(patience *p)
{
    const int64_t left = p->deadline - kc_clock_now(p->clock);
    if (left <= 0)
        return false;
    kc_clock_sleep(p->clock, KC_MIN(p->pause, left));
    p->pause = KC_MIN(2 * p->pause, MAX_PAUSE);
    return true;
}

static const kc_kind *await_kind(kc_client *client, kc_gvk gvk, patience *p, kc_error *err)
{
    for (;;) {
        kc_scoped(kc_error) failed = {0};
        const kc_kind *kind = kc__client_kind_now(client, gvk, &failed);
        if (kind)
            return kind;
        const bool late = kc_is_not_found(&failed);
        if (late && wait_more(p))
            continue;
        if (late)
            kc_error_set(err, KC_TIMEOUT, "the server does not serve it yet: %s",
                         kc_error_text(&failed));
        else
            kc_error_move(err, &failed);
        return NULL;
    }
}

/* ---- definitions ---- */

static const kc_value *condition_of(const kc_value *definition, const char *type)
{
    kc_items (kc_dig(definition, "status.conditions"), c)
        if (kc_str_is(kc_as_str(kc_get(c, "type")), type))
            return c;
    return NULL;
}

static bool condition_is(const kc_value *condition, const char *status)
{
    return kc_str_is(kc_as_str(kc_get(condition, "status")), status);
}

/* 1: served, or soon; 0: not yet. */
static int is_established(const kc_object *definition, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *names = condition_of(kc_view_root(view), "NamesAccepted");
    if (condition_is(names, "False"))
        return kc_error_set(err, KC_CONFLICT, "its names are not accepted: %s",
                            kc_as_cstr(kc_get(names, "message"), "no reason given"));
    return condition_is(condition_of(kc_view_root(view), "Established"), "True");
}

static int await_established(kc_client *client, const kc_object *definition, patience *p,
                             kc_error *err)
{
    kc_auto(kc_object) *now = kc_object_ref(definition);
    for (;;) {
        const int r = is_established(now, err);
        if (r != 0)
            return r < 0 ? r : 0;
        if (!wait_more(p))
            return kc_error_set(err, KC_TIMEOUT, "it is not established yet");
        kc_object_unref(now);
        now = kc_client_get(client, &kc_kind_custom_resource_definition, kc_object_key(definition),
                            &(kc_get_opts){.live = true}, err);
        if (!now)
            return -1;
    }
}

/* Versions are a list; in the oldest definitions there is only one, by itself. */
static int await_versions(kc_client *client, const kc_object *definition, patience *p,
                          kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *spec = kc_get(kc_view_root(view), "spec");
    kc_gvk gvk = {kc_as_str(kc_get(spec, "group")), kc_as_str(kc_get(spec, "version")),
                  kc_as_str(kc_dig(spec, "names.kind"))};
    if (!kc_len(kc_get(spec, "versions")))
        return await_kind(client, gvk, p, err) ? 0 : -1;
    kc_items (kc_get(spec, "versions"), version) {
        gvk.version = kc_as_str(kc_get(version, "name"));
        if (kc_as_bool(kc_get(version, "served"), false) && !await_kind(client, gvk, p, err))
            return -1;
    }
    return 0;
}

int kc__apply_await_definition(kc_client *client, const kc_object *definition, int64_t timeout,
                               kc_error *err)
{
    patience p = patience_of(client, timeout);
    if (await_established(client, definition, &p, err) == 0 &&
        await_versions(client, definition, &p, err) == 0)
        return 0;
    return kc_error_wrap(err, "definition %.*s", KC_ARG(kc_object_name(definition)));
}

/* ---- kinds ---- */

static bool defines(const kc_object *definition, kc_gvk gvk)
{
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *spec = kc_get(kc_view_root(view), "spec");
    if (!kc_str_eq(kc_as_str(kc_get(spec, "group")), gvk.group) ||
        !kc_str_eq(kc_as_str(kc_dig(spec, "names.kind")), gvk.kind))
        return false;
    kc_items (kc_get(spec, "versions"), version)
        if (kc_str_eq(kc_as_str(kc_get(version, "name")), gvk.version))
            return kc_as_bool(kc_get(version, "served"), false);
    return false;
}

/* Whether the server has a definition of it. Who may not know waits for nothing. */
static bool is_defined(kc_client *client, kc_gvk gvk)
{
    kc_scoped(kc_objects) all = {0};
    if (kc_client_list(client, &kc_kind_custom_resource_definition, &(kc_list_opts){.live = true},
                       &all, NULL) < 0)
        return false;
    for (size_t i = 0; i < all.n; i++)
        if (defines(all.items[i], gvk))
            return true;
    return false;
}

const kc_kind *kc__apply_kind(kc_client *client, kc_gvk gvk, int64_t timeout, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    const kc_kind *kind = kc__client_kind_now(client, gvk, &failed);
    if (!kind && kc_is_not_found(&failed) && is_defined(client, gvk)) {
        patience p = patience_of(client, timeout);
        return await_kind(client, gvk, &p, err);
    }
    if (!kind)
        kc_error_move(err, &failed);
    return kind;
}
