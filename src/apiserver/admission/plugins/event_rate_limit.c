/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rate_limit.c: implements the admission plugin EventRateLimit with token buckets, as
 * Kubernetes does. A limit has one bucket for each key (a namespace, a user, …); of `cacheSize`
 * buckets the least recently used one is dropped, and its key begins with a full bucket again. So
 * the memory is bounded whatever clients send.
 *
 * A key is stored as its hash: 64 bits keep a bucket small, and a collision only shares a bucket.
 */
#include "apiserver/admission/plugins/event_rate_limit.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/admission/chain/plugin_request.h"
#include "kc/buf.h"
#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/thread.h"
#include "kc/yaml.h"

enum { DEFAULT_BUCKETS = 4096, MAX_BUCKETS = 1 << 20, MAX_LIMITS = 64 };

typedef struct rate_bucket {
    uint64_t key; /* Its bytes are the key of the map. */
    double tokens;
    int64_t filled; /* Monotonic time of the last refill. */
    kc_dlist_link link;
} rate_bucket;

/* Appends the key of a request. */
typedef void rate_key_fn(const kc__rest_call *call, const kc_value *event, kc_buf *out);

typedef struct event_limit {
    const char *type;
    rate_key_fn *key;
    double qps, burst;
    size_t max_buckets;
    kc_map buckets;  /* Of rate_bucket. */
    kc_dlist recent; /* The least recently used one first. */
} event_limit;

struct kc__event_rate_limits {
    kc_mutex mutex; /* Guards the buckets of all limits; held for a look-up in each. */
    event_limit *items;
    size_t n;
};

/* ---- keys ---- */

static void server_key(const kc__rest_call *call, const kc_value *event, kc_buf *out)
{
    (void)call;
    (void)event;
    (void)out;
}

static void namespace_key(const kc__rest_call *call, const kc_value *event, kc_buf *out)
{
    (void)event;
    kc_buf_append(out, call->info.ns);
}

static void user_key(const kc__rest_call *call, const kc_value *event, kc_buf *out)
{
    (void)event;
    kc_buf_append(out, call->user.name);
}

static void source_and_object_key(const kc__rest_call *call, const kc_value *event, kc_buf *out)
{
    static const char *const paths[] = {"source.component",         "source.host",
                                        "involvedObject.kind",      "involvedObject.namespace",
                                        "involvedObject.name",      "involvedObject.uid",
                                        "involvedObject.apiVersion"};
    (void)call;
    for (size_t i = 0; i < KC_COUNT(paths); i++)
        kc_buf_append(out, kc_value_as_str(kc_value_nested(event, paths[i])));
}

static const struct {
    const char *type;
    rate_key_fn *key;
} rate_types[] = {{"Server", server_key},
                  {"Namespace", namespace_key},
                  {"User", user_key},
                  {"SourceAndObject", source_and_object_key}};

/* ---- buckets ---- */

static kc_str bucket_key(const uint64_t *key)
{
    return kc_str_of((const char *)key, sizeof(*key));
}

static void drop_oldest_bucket(event_limit *limit)
{
    rate_bucket *oldest = kc_container_of(kc_dlist_pop(&limit->recent), rate_bucket, link);
    kc_map_remove(&limit->buckets, bucket_key(&oldest->key));
    free(oldest);
}

static rate_bucket *bucket_of(event_limit *limit, kc_str key, int64_t now)
{
    const uint64_t hash = kc_str_hash(key, 0);
    rate_bucket *bucket = kc_map_get(&limit->buckets, bucket_key(&hash));
    if (bucket) {
        kc_dlist_remove(&bucket->link);
    } else {
        if (limit->buckets.n >= limit->max_buckets)
            drop_oldest_bucket(limit);
        bucket = kc_new(rate_bucket);
        *bucket = (rate_bucket){.key = hash, .tokens = limit->burst, .filled = now};
        kc_map_put(&limit->buckets, bucket_key(&bucket->key), bucket);
    }
    kc_dlist_push(&limit->recent, &bucket->link);
    return bucket;
}

static bool take_token(event_limit *limit, kc_str key, int64_t now)
{
    rate_bucket *bucket = bucket_of(limit, key, now);
    const double seconds = (double)(now - bucket->filled) / (double)KC_SECOND;
    const double tokens = bucket->tokens + seconds * limit->qps;
    bucket->tokens = KC_MIN(tokens, limit->burst);
    bucket->filled = now;
    if (bucket->tokens < 1)
        return false;
    bucket->tokens -= 1;
    return true;
}

/* ---- the configuration ---- */

kc__event_rate_limits *kc__event_rate_limits_free(kc__event_rate_limits *limits)
{
    if (!limits)
        return NULL;
    for (size_t i = 0; i < limits->n; i++) {
        while (!kc_dlist_empty(&limits->items[i].recent))
            drop_oldest_bucket(&limits->items[i]);
        kc_map_done(&limits->items[i].buckets);
    }
    kc_mutex_done(&limits->mutex);
    free(limits->items);
    free(limits);
    return NULL;
}

static int check_limit_members(const kc_value *value, size_t i, kc_error *err)
{
    static const char *const known[] = {"type", "qps", "burst", "cacheSize", NULL};
    kc_value_each_member (value, name, member) {
        (void)member;
        if (!kc_str_is_any(name, known))
            return kc_error_set(err, KC_INVALID, "unknown field \"limits[%zu].%.*s\"", i,
                                KC_ARG(name));
    }
    return 0;
}

static int read_limit(const kc_value *value, size_t i, event_limit *ret, kc_error *err)
{
    const kc_str type = kc_value_as_str(kc_value_get(value, "type"));
    const int64_t qps = kc_value_as_i64_or(kc_value_get(value, "qps"), 0),
                  burst = kc_value_as_i64_or(kc_value_get(value, "burst"), 0),
                  size = kc_value_as_i64_or(kc_value_get(value, "cacheSize"), 0);
    if (check_limit_members(value, i, err) < 0)
        return kc_error_result(err);
    for (size_t t = 0; t < KC_COUNT(rate_types); t++)
        if (kc_str_is(type, rate_types[t].type))
            *ret = (event_limit){.type = rate_types[t].type, .key = rate_types[t].key};
    if (!ret->type)
        return kc_error_set(err, KC_INVALID,
                            "limits[%zu].type: Unsupported value: \"%.*s\": supported values: "
                            "\"Namespace\", \"Server\", \"SourceAndObject\", \"User\"",
                            i, KC_ARG(type));
    if (burst <= 0 || qps <= 0)
        return kc_error_set(err, KC_INVALID,
                            "limits[%zu].%s: Invalid value: %lld: must be positive", i,
                            burst <= 0 ? "burst" : "qps", (long long)(burst <= 0 ? burst : qps));
    if (size < 0 || size > MAX_BUCKETS)
        return kc_error_set(err, KC_INVALID,
                            "limits[%zu].cacheSize: Invalid value: %lld: must be between 0 and %d",
                            i, (long long)size, MAX_BUCKETS);
    ret->qps = (double)qps;
    ret->burst = (double)burst;
    ret->max_buckets = size ? (size_t)size : DEFAULT_BUCKETS;
    return 0;
}

static int check_rate_document(const kc_value *root, kc_error *err)
{
    static const char *const known[] = {"apiVersion", "kind", "limits", NULL};
    const kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion")),
                 kind = kc_value_as_str(kc_value_get(root, "kind"));
    const size_t n = kc_value_len(kc_value_get(root, "limits"));
    if (!kc_str_is(version, "eventratelimit.admission.k8s.io/v1alpha1") ||
        !kc_str_is(kind, "Configuration"))
        return kc_error_set(err, KC_INVALID,
                            "expected kind Configuration of "
                            "eventratelimit.admission.k8s.io/v1alpha1, got %.*s of %.*s",
                            KC_ARG(kind), KC_ARG(version));
    kc_value_each_member (root, name, value) {
        (void)value;
        if (!kc_str_is_any(name, known))
            return kc_error_set(err, KC_INVALID, "unknown field \"%.*s\"", KC_ARG(name));
    }
    if (!n || n > MAX_LIMITS)
        return kc_error_set(err, KC_INVALID, "limits: Invalid value: must %s",
                            n ? "have at most 64 items" : "not be empty");
    return 0;
}

kc__event_rate_limits *kc__event_rate_limits_parse(kc_str text, kc_error *err)
{
    kc_auto(kc_view) *view = kc_yaml_parse(text, NULL, err);
    if (!view || check_rate_document(kc_view_root(view), err) < 0)
        return NULL;
    const kc_value *list = kc_value_get(kc_view_root(view), "limits");
    kc_auto(kc__event_rate_limits) *limits = kc_new(kc__event_rate_limits);
    kc_mutex_init(&limits->mutex);
    limits->items = kc_calloc(kc_value_len(list), sizeof(*limits->items));
    kc_value_each_item (list, value) {
        event_limit *limit = &limits->items[limits->n];
        if (read_limit(value, limits->n, limit, err) < 0)
            return NULL;
        kc_dlist_init(&limit->recent);
        limits->n++;
    }
    return kc_take(limits);
}

/* ---- the plugin ---- */

/* Appends what each exhausted limit says; returns their number. */
static size_t take_tokens(kc__event_rate_limits *limits, const kc__rest_call *call,
                          const kc_value *event, kc_buf *why)
{
    size_t exhausted = 0;
    const int64_t now = kc_clock_now(call->api->clock);
    for (size_t i = 0; i < limits->n; i++) {
        event_limit *limit = &limits->items[i];
        kc_scoped(kc_buf) key = {0};
        bool taken = false;
        limit->key(call, event, &key);
        kc_locked (&limits->mutex)
            taken = take_token(limit, kc_buf_str(&key), now);
        if (!taken)
            kc_buf_printf(why, "%slimit reached on type %s for key %s", exhausted++ ? ", " : "",
                          limit->type, kc_buf_cstr(&key));
    }
    return exhausted;
}

kc__rest_verdict kc__admission_event_rate_limit(kc__rest_call *call)
{
    const kc__admission_config *config = call->api->admission_config;
    kc_scoped(kc_buf) why = {0};
    if (!config || !config->event_rate || call->options.dry_run || *call->resource->group ||
        !kc__admission_writes(call, "core/events", NULL))
        return KC__REST_NEXT;
    kc_auto(kc_view) *event = kc_view_of(call->proposed);
    const size_t n = take_tokens(config->event_rate, call, kc_view_root(event), &why);
    return n ? kc__rest_fail(call, KC_TOO_MANY_REQUESTS,
                             n > 1 ? "Too many requests: [%s]" : "Too many requests: %s",
                             kc_buf_cstr(&why))
             : KC__REST_NEXT;
}
