/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c: waits for kinds that a CRD has just defined.
 *
 * A server responds to the creation of a CRD before it serves the new resource. It first checks
 * whether the names are free (condition NamesAccepted), then sets the condition Established, then
 * adds the kind to discovery (some servers with a delay). This file waits for all three. It fails
 * at once where waiting cannot help: the names are taken, or no CRD defines the kind.
 */
#include "client/apply/apply_internal.h"

#include "client/rest/client_internal.h"
#include "kc/kinds.h"

#define FIRST_PAUSE KC_MILLISECOND
#define MAX_PAUSE   (100 * KC_MILLISECOND)

typedef struct apply_wait_backoff {
    const kc_clock *clock;
    kc_cancel *cancel;
    int64_t deadline, pause;
} apply_wait_backoff;

static apply_wait_backoff apply_wait_backoff_new(kc_client *client, int64_t timeout)
{
    const kc_clock *clock = kc_client_clock(client);
    return (apply_wait_backoff){clock, client->bind.cancel, kc_clock_deadline(clock, timeout),
                                FIRST_PAUSE};
}

/* Sleeps for the current backoff. Returns false when the timeout has expired, or the client was
 * cancelled. */
static bool wait_more(apply_wait_backoff *p)
{
    const int64_t left = p->deadline - kc_clock_now(p->clock);
    if (left <= 0)
        return false;
    const int64_t pause = KC_MIN(p->pause, left);
    p->pause = KC_MIN(2 * p->pause, MAX_PAUSE);
    return kc_cancel_sleep_until(p->cancel, p->clock, kc_clock_deadline(p->clock, pause));
}

static const kc_kind *await_kind(kc_client *client, kc_gvk gvk, apply_wait_backoff *p,
                                 kc_error *err)
{
    for (;;) {
        kc_scoped(kc_error) failed = {0};
        const kc_kind *kind = kc__client_kind_refresh(client, gvk, &failed);
        if (kind)
            return kind;
        const bool late = kc_is_not_found(&failed);
        if (late && wait_more(p))
            continue;
        if (late)
            kc_error_set(err, KC_TIMEOUT, "not served yet: %s", kc_error_text(&failed));
        else
            kc_error_move(err, &failed);
        return NULL;
    }
}

/* ---- CRDs ---- */

static const kc_value *condition_of(const kc_value *definition, const char *type)
{
    kc_value_each_item (kc_value_nested(definition, "status.conditions"), c)
        if (kc_str_is(kc_value_as_str(kc_value_get(c, "type")), type))
            return c;
    return NULL;
}

static bool condition_is(const kc_value *condition, const char *status)
{
    return kc_str_is(kc_value_as_str(kc_value_get(condition, "status")), status);
}

/* Returns 1 if the CRD is established, 0 if not yet. */
static int is_established(const kc_object *definition, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *names = condition_of(kc_view_root(view), "NamesAccepted");
    if (condition_is(names, "False"))
        return kc_error_set(err, KC_CONFLICT, "names not accepted: %s",
                            kc_value_as_cstr(kc_value_get(names, "message"), "no reason given"));
    return condition_is(condition_of(kc_view_root(view), "Established"), "True");
}

static int await_established(kc_client *client, const kc_object *definition, apply_wait_backoff *p,
                             kc_error *err)
{
    kc_auto(kc_object) *now = kc_object_ref(definition);
    for (;;) {
        const int r = is_established(now, err);
        if (r != 0)
            return r < 0 ? r : 0;
        if (!wait_more(p))
            return kc_error_set(err, KC_TIMEOUT, "not established yet");
        kc_object_unref(now);
        now = kc_client_get(client, &kc_kind_custom_resource_definition, kc_object_key(definition),
                            &(kc_get_opts){.live = true}, err);
        if (!now)
            return kc_error_result(err);
    }
}

/* CRDs have a list of versions; the oldest API version has a single `version` field instead. */
static int await_versions(kc_client *client, const kc_object *definition, apply_wait_backoff *p,
                          kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    kc_gvk gvk = {kc_value_as_str(kc_value_get(spec, "group")),
                  kc_value_as_str(kc_value_get(spec, "version")),
                  kc_value_as_str(kc_value_nested(spec, "names.kind"))};
    if (!kc_value_len(kc_value_get(spec, "versions")))
        return await_kind(client, gvk, p, err) ? 0 : kc_error_result(err);
    kc_value_each_item (kc_value_get(spec, "versions"), version) {
        gvk.version = kc_value_as_str(kc_value_get(version, "name"));
        if (kc_value_as_bool(kc_value_get(version, "served"), false) &&
            !await_kind(client, gvk, p, err))
            return kc_error_result(err);
    }
    return 0;
}

int kc__apply_await_definition(kc_client *client, const kc_object *definition, int64_t timeout,
                               kc_error *err)
{
    apply_wait_backoff p = apply_wait_backoff_new(client, timeout);
    if (await_established(client, definition, &p, err) == 0 &&
        await_versions(client, definition, &p, err) == 0)
        return 0;
    return kc_error_wrap(err, "CRD %.*s", KC_ARG(kc_object_name(definition)));
}

/* ---- kinds ---- */

static bool defines(const kc_object *definition, kc_gvk gvk)
{
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    if (!kc_str_eq(kc_value_as_str(kc_value_get(spec, "group")), gvk.group) ||
        !kc_str_eq(kc_value_as_str(kc_value_nested(spec, "names.kind")), gvk.kind))
        return false;
    kc_value_each_item (kc_value_get(spec, "versions"), version)
        if (kc_str_eq(kc_value_as_str(kc_value_get(version, "name")), gvk.version))
            return kc_value_as_bool(kc_value_get(version, "served"), false);
    return false;
}

/* Returns whether the server has a CRD for the kind. False if CRDs cannot be listed, for example
 * without permission, so that the caller does not wait. */
static bool is_defined(kc_client *client, kc_gvk gvk)
{
    kc_scoped(kc_object_list) all = {0};
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
    const kc_kind *kind = kc__client_kind_refresh(client, gvk, &failed);
    if (!kind && kc_is_not_found(&failed) && is_defined(client, gvk)) {
        apply_wait_backoff p = apply_wait_backoff_new(client, timeout);
        return await_kind(client, gvk, &p, err);
    }
    if (!kind)
        kc_error_move(err, &failed);
    return kind;
}
