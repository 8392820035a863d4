/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_value.c: the form of objects in the storage before encryption: their JSON, or what the
 * format of the options makes of them (kc__store_format), which is that of Kubernetes in etcd.
 *
 * Reading accepts both forms in any storage. Writing uses the format only in a shared storage,
 * where other programs read the values; a storage of our own keeps the JSON, which costs nothing to
 * write and to load.
 *
 * Lossy values. A value of a newer program may have fields that its object lacks. The cache keeps
 * such a value, so that the next write of this server puts the fields back. The replica's thread
 * uses these values, and before it starts the thread that loads.
 */
#include "apiserver/store/store_internal.h"

/* ---- lossy values ---- */

typedef struct lossy_value {
    kc_str value; /* Behind the struct, as is the key. */
    kc_str key;
} lossy_value;

static void forget_lossy(kc__watch_cache *cache, kc_str key)
{
    if (cache->lossy.n)
        free(kc_map_remove(&cache->lossy, key));
}

static void keep_lossy(kc__watch_cache *cache, kc_str key, kc_str value)
{
    lossy_value *kept = kc_alloc(sizeof(*kept) + key.n + value.n);
    char *text = (char *)(kept + 1);
    memcpy(text, key.p, key.n);
    memcpy(text + key.n, value.p, value.n);
    *kept = (lossy_value){kc_str_of(text + key.n, value.n), kc_str_of(text, key.n)};
    forget_lossy(cache, key);
    kc_map_put(&cache->lossy, kept->key, kept);
}

void kc__store_values_done(kc__watch_cache *cache)
{
    kc_map_each (&cache->lossy, entry)
        free(entry->value);
    kc_map_done(&cache->lossy);
}

bool kc__store_value_is_lossy(const kc__watch_cache *cache, kc_str key)
{
    return cache->lossy.n && kc_map_get(&cache->lossy, key);
}

void kc__store_value_deleted(kc__watch_cache *cache, kc_str key)
{
    forget_lossy(cache, key);
}

/* ---- reading ---- */

static kc_object *decode_value(kc__watch_cache *cache, kc_str plain, bool *ret_lossy, kc_error *err)
{
    const kc__store_format *format = cache->store->opts.format;
    const kc_json_opts opts = {.max_bytes = KC__STORAGE_MAX_VALUE};
    return format ? format->decode(cache->kind, plain, ret_lossy, err)
                  : kc_object_parse(plain, &opts, err);
}

/* With its revision. NULL on error. */
static kc_object *read_with_revision(kc__watch_cache *cache, kc_str stored_key, kc_str plain,
                                     uint64_t revision, bool *ret_lossy, kc_error *err)
{
    kc_object *object = decode_value(cache, plain, ret_lossy, err);
    if (!object) {
        kc_error_wrap(err, "the stored object \"%.*s\" cannot be read", KC_ARG(stored_key));
        return NULL;
    }
    if (kc_object_revision(object) == revision)
        return object;
    kc_object *revised = kc_object_with_revision(object, revision);
    kc_object_unref(object);
    return revised;
}

kc_object *kc__store_value_read_past(kc__watch_cache *cache, kc_str stored_key, kc_str plain,
                                     uint64_t revision, kc_error *err)
{
    bool lossy = false;
    return read_with_revision(cache, stored_key, plain, revision, &lossy, err);
}

kc_object *kc__store_value_read(kc__watch_cache *cache, kc_str stored_key, kc_str plain,
                                uint64_t revision, kc_error *err)
{
    const kc_str key = kc__store_key_in(cache, stored_key);
    bool lossy = false;
    kc_object *object = read_with_revision(cache, stored_key, plain, revision, &lossy, err);
    if (!object)
        return NULL;
    if (lossy && !cache->store->storage->backend->exclusive)
        keep_lossy(cache, key, plain);
    else
        forget_lossy(cache, key);
    return object;
}

/* ---- writing ---- */

int kc__store_value_write(kc__watch_cache *cache, kc_str key, const kc_object *object, kc_buf *out,
                          kc_str *ret_plain, kc_error *err)
{
    const kc__store_format *format = cache->store->opts.format;
    if (!format) {
        *ret_plain = kc_object_json(object);
        return 0;
    }
    const lossy_value *older = cache->lossy.n ? kc_map_get(&cache->lossy, key) : NULL;
    if (format->encode(cache->kind, object, older ? older->value : (kc_str){0}, out, err) < 0)
        return kc_error_result(err);
    *ret_plain = kc_buf_str(out);
    return 0;
}
