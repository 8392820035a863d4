/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_version.c: converts objects for the engine of field ownership, which compares them in the
 * version of each entry of managedFields.
 *
 * Nearly all entries have the version of the request, so this path is rare and may be slow: it
 * writes the value as text and converts it as any object of its resource. A version that the kind
 * does not have any more is no error: its entries are dropped.
 *
 * The engine is a function and cannot wait for a conversion webhook. Which conversion it needs
 * depends on what it has computed, so the objects are not known in advance either. Therefore the
 * call keeps the conversions that it has got, by the text of the object and the version:
 *
 *     engine ── convert ──▶ kept ──▶ result, or the webhook's error
 *                      └──▶ missing: noted; the engine fails, the call waits, the engine runs again
 *
 * The engine is deterministic, so each run gets at least one conversion further. As in Kubernetes,
 * an object passes through the version of the request on its way between two other versions.
 */
#include "apiserver/request/own_internal.h"

#include "apiserver/call/call_conversion.h"
#include "apiserver/kinds/resource_ops.h"

/* Objects and results that one call keeps, in bytes. */
#define MAX_KEPT_BYTES ((size_t)32 << 20)

typedef struct own_conversion {
    kc_object *from;
    kc_str version;
    kc_object *to;  /* NULL: missing, or failed. */
    kc_error error; /* Of the webhook. */
} own_conversion;

struct kc__rest_own_conversions {
    const kc__resource *resource;
    unsigned tries; /* Of the call: after a conflict the objects are others. */
    size_t bytes;
    KC_VEC(own_conversion) list;
};

/* ---- what the call keeps ---- */

static void clear_conversions(struct kc__rest_own_conversions *all)
{
    kc_vec_each (&all->list, one) {
        kc_object_unref(one->from);
        kc_object_unref(one->to);
        kc_error_done(&one->error);
    }
    kc_vec_clear(&all->list);
    all->bytes = 0;
}

void kc__rest_own_release(kc__rest_call *call)
{
    struct kc__rest_own_conversions *all = kc_take(call->own_conversions);
    if (!all)
        return;
    clear_conversions(all);
    kc_vec_done(&all->list);
}

static struct kc__rest_own_conversions *conversions_of(kc__rest_call *call,
                                                       const kc__resource *resource)
{
    struct kc__rest_own_conversions *all = call->own_conversions;
    if (!all) {
        all = call->own_conversions = kc_arena_new(call->arena, struct kc__rest_own_conversions);
        all->resource = resource;
    }
    if (all->tries != call->tries)
        clear_conversions(all);
    all->tries = call->tries;
    return all;
}

/* The last one is missing until the call has waited for it. */
static own_conversion *missing_conversion(const kc__rest_call *call)
{
    struct kc__rest_own_conversions *all = call->own_conversions;
    own_conversion *last = all && all->list.n ? kc_vec_last(&all->list) : NULL;
    return last && !last->to && !last->error.reason ? last : NULL;
}

bool kc__rest_own_is_waiting(const kc__rest_call *call)
{
    return missing_conversion(call) != NULL;
}

kc__rest_verdict kc__rest_own_await(kc__rest_call *call)
{
    own_conversion *missing = missing_conversion(call);
    if (!missing)
        return KC__REST_NEXT;
    kc__rest_verdict verdict = kc__rest_convert_to_version(
        call, call->own_conversions->resource, missing->from, missing->version, &missing->to);
    if (verdict == KC__REST_NEXT)
        call->own_conversions->bytes += kc_object_json(missing->to).n;
    if (verdict != KC__REST_FAIL)
        return verdict;
    kc_error_set(&missing->error, call->error.reason, "%s", kc_error_text(&call->error));
    kc__rest_conversion_forgive(call);
    return KC__REST_NEXT;
}

/* ---- conversion by webhook ---- */

static own_conversion *find_conversion(const struct kc__rest_own_conversions *all,
                                       const kc_object *from, kc_str version)
{
    kc_vec_each (&all->list, one)
        if (kc_str_eq(one->version, version) &&
            kc_str_eq(kc_object_json(one->from), kc_object_json(from)))
            return one;
    return NULL;
}

/* Notes that a conversion is missing; fails. */
static kc_object *want_conversion(kc__rest_call *call, struct kc__rest_own_conversions *all,
                                  const kc_object *from, kc_str version, kc_error *err)
{
    all->bytes += kc_object_json(from).n;
    if (all->bytes > MAX_KEPT_BYTES) {
        kc_error_set(err, KC_UNKNOWN, "converted objects exceed %zu bytes", MAX_KEPT_BYTES);
        return NULL;
    }
    own_conversion missing = {.from = kc_object_ref(from),
                              .version = kc_arena_str(call->arena, version)};
    kc_vec_push(&all->list, missing);
    kc_error_set(err, KC_UNKNOWN, "conversion to %.*s is not complete", KC_ARG(version));
    return NULL;
}

/* The kept conversion; NULL: it has failed, or is missing. */
static kc_object *take_conversion(kc__rest_owning *o, const kc_object *from, kc_str version,
                                  kc_error *err)
{
    struct kc__rest_own_conversions *all = conversions_of(o->call, o->resource);
    const own_conversion *kept = find_conversion(all, from, version);
    if (!kept)
        return want_conversion(o->call, all, from, version, err);
    if (kept->error.reason)
        kc_error_set(err, kept->error.reason, "%s", kc_error_text(&kept->error));
    return kept->to ? kc_object_ref(kept->to) : NULL;
}

static kc_object *convert_by_webhook(kc__rest_owning *o, const kc_object *from, kc_str version,
                                     kc_error *err)
{
    bool direct =
        kc_str_eq(kc_object_api_version(from), o->version) || kc_str_eq(version, o->version);
    kc_auto(kc_object) *hub =
        direct ? kc_object_ref(from) : take_conversion(o, from, o->version, err);
    return hub ? take_conversion(o, hub, version, err) : NULL;
}

/* Kubernetes does not send objects that have only a kind and a version. */
static bool is_empty_object(const kc_value *object)
{
    return kc_value_len(object) == 2 && kc_value_get(object, "kind") &&
           kc_value_get(object, "apiVersion");
}

/* ---- conversion for the engine ---- */

/* NULL without an error: there is no such version. */
static kc_object *convert_object(kc__rest_owning *o, const kc__fields_typed *from, kc_str version,
                                 const kc__resource_topology **ret_topology, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, from->value);
    kc_auto(kc_object) *plain = kc_object_parse(kc_buf_str(&text), NULL, err);
    kc_auto(kc_object) *object = plain ? kc_object_with_api_version(plain, from->version) : NULL;
    kc_auto(kc_object) *converted =
        object ? o->resource->ops->to_version(o->resource, object, version,
                                              o->call->api->topologies, ret_topology, err)
               : NULL;
    if (!converted || !kc__remote_may_be_needed(o->resource) || is_empty_object(from->value))
        return kc_take(converted);
    return convert_by_webhook(o, object, version, err);
}

kc__fields_converted kc__rest_owning_convert(kc_arena *arena, const kc__fields_typed *from,
                                             kc_str version, kc__fields_typed *ret, kc_error *err,
                                             void *user)
{
    kc__rest_owning *o = user;
    kc_scoped(kc_error) why = {0};
    const kc__resource_topology *topology = NULL;
    kc_auto(kc_object) *converted = convert_object(o, from, version, &topology, &why);
    if (!converted && !why.reason)
        return KC__FIELDS_NO_VERSION;
    if (!converted) {
        kc_error_move(err, &why);
        return KC__FIELDS_NOT_CONVERTED;
    }
    kc_view *view = kc__fields_view_of(converted);
    kc_vec_push(&o->views, view);
    *ret = (kc__fields_typed){.value = kc_view_root(view),
                              .type = topology->type,
                              .version = kc_arena_str(arena, version)};
    return KC__FIELDS_CONVERTED;
}
