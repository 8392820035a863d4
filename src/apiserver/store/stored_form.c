/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_form.c: the form of objects in the storage, if it is not their text: encrypted values.
 *
 * Trees and events hold plain objects. The committer encrypts each value before it reaches the
 * storage, so neither the journal nor the data file contains the text; loading decrypts.
 *
 * Unreadable. A value that cannot be decrypted or decoded is recorded with the reason, until a
 * readable value replaces it. With a missing key added, a restart makes the object readable. Data
 * of other programs in a shared storage is not recorded: nothing serves it.
 *
 * Stale. A value that another key than the current one encrypted must be rewritten by the next
 * update. Loading records the keys of such objects; when the configuration changes, everything that
 * is stored until then is stale, if the key that encrypts the resource is another one. A batch uses
 * one configuration; if that is no longer current when the batch is published, its objects are
 * stale at once.
 */
#include "apiserver/store/store_internal.h"

#define ENCRYPTED "k8s:enc:"

/* ---- values ---- */

int kc__store_form_open(kc__watch_cache *cache, kc_str stored_key, kc_str value, kc_buf *out,
                        kc_str *ret_plain, bool *ret_stale, kc_error *err)
{
    kc__encryption *encryption = cache->store->opts.encryption;
    if (!encryption && kc_str_starts(value, KC_STR(ENCRYPTED)))
        return kc_error_set(err, KC_INTERNAL, "identity transformer tried to read encrypted data");
    if (encryption) {
        kc_auto(kc__encryption_config) *config = kc__encryption_current(encryption);
        kc_scoped(kc_buf) room = {0};
        return kc__encryption_unseal(
            encryption, config, cache->resource,
            kc__storage_outside_key(cache->store->storage, stored_key, &room), value, out,
            ret_plain, ret_stale, err);
    }
    *ret_plain = value;
    *ret_stale = false;
    return 0;
}

int kc__store_form_seal(kc__store_batch *batch, kc__watch_cache *cache, kc_str stored_key,
                        kc_str plain, kc_str *ret_value, kc_error *err)
{
    kc_buf *out = kc_vec_add(&batch->sealed);
    if (kc__encryption_seal(batch->store->opts.encryption, batch->encryption, cache->resource,
                            stored_key, plain, out, err) < 0)
        return kc_error_result(err);
    *ret_value = kc_buf_str(out);
    return 0;
}

void kc__store_forms_begin(kc__store_batch *batch)
{
    if (batch->store->opts.encryption && !batch->encryption)
        batch->encryption = kc__encryption_current(batch->store->opts.encryption);
}

void kc__store_forms_end(kc__store_batch *batch)
{
    kc_vec_each (&batch->sealed, value)
        kc_buf_done(value);
    kc_vec_clear(&batch->sealed);
    batch->encryption = kc__encryption_config_unref(batch->encryption);
}

/* ---- unreadable objects ---- */

static void unreadable_free(kc__store_unreadable *entry)
{
    if (!entry)
        return;
    free(entry->key);
    free(entry->text);
    free(entry);
}

void kc__store_form_is_unreadable(kc__watch_cache *cache, kc_str stored_key, const kc_error *why)
{
    if (cache->store->opts.format && !cache->kind)
        return; /* Another program's. */
    kc__store_unreadable *entry = kc_new(kc__store_unreadable);
    entry->key = kc_str_dup(stored_key);
    entry->text = kc_strdup(kc_error_text(why));
    const kc_str key = kc__store_key_in(cache, kc_cstr(entry->key));
    kc_locked (&cache->store->forms) {
        unreadable_free(kc_map_remove(&cache->unreadable, key));
        kc_map_put(&cache->unreadable, key, entry);
        atomic_store(&cache->n_unreadable, cache->unreadable.n);
    }
    kc_log_error(cache->store->opts.log, "a stored object cannot be read", kc_kv("key", stored_key),
                 kc_kv("err", why));
}

void kc__store_form_is_readable(kc__watch_cache *cache, kc_str key)
{
    if (!atomic_load(&cache->n_unreadable))
        return;
    kc_locked (&cache->store->forms) {
        unreadable_free(kc_map_remove(&cache->unreadable, key));
        atomic_store(&cache->n_unreadable, cache->unreadable.n);
    }
}

void kc__store_form_reset(kc__watch_cache *cache)
{
    kc_locked (&cache->store->forms) {
        kc_map_each (&cache->unreadable, entry)
            unreadable_free(entry->value);
        kc_map_clear(&cache->unreadable);
        atomic_store(&cache->n_unreadable, 0);
    }
}

int kc__watch_cache_check_readable(const kc__watch_cache *cache, kc_str key, kc_error *err)
{
    int failed = 0;
    if (!atomic_load(&cache->n_unreadable))
        return 0;
    kc_locked (&cache->store->forms) {
        const kc__store_unreadable *entry = kc_map_get(&cache->unreadable, key);
        if (entry)
            failed = kc_error_set(err, KC_INTERNAL, "Internal error occurred: %s", entry->text);
    }
    return failed;
}

int kc__watch_cache_check_all_readable(const kc__watch_cache *cache, kc_str prefix, kc_error *err)
{
    int failed = 0;
    if (!atomic_load(&cache->n_unreadable))
        return 0;
    kc_locked (&cache->store->forms)
        kc_map_each (&cache->unreadable, entry) {
            const kc__store_unreadable *object = entry->value;
            if (!failed && kc_str_starts(entry->key, prefix))
                failed = kc_error_set(err, KC_INTERNAL,
                                      "Internal error occurred: unable to transform key \"%s\": %s",
                                      object->key, object->text);
        }
    return failed;
}

/* ---- stale objects ---- */

void kc__store_form_is_stale(kc__watch_cache *cache, kc_str key)
{
    char *copy = kc_str_dup(key);
    kc_map_put(&cache->stale_keys, kc_str_of(copy, key.n), copy);
    atomic_store(&cache->n_stale, cache->stale_keys.n);
}

void kc__store_form_read(kc__watch_cache *cache, kc_str key, bool stale)
{
    if (!stale && !atomic_load(&cache->n_stale))
        return;
    kc_locked (&cache->store->forms) {
        if (!stale)
            free(kc_map_remove(&cache->stale_keys, key));
        else if (!kc_map_get(&cache->stale_keys, key))
            kc__store_form_is_stale(cache, key);
        atomic_store(&cache->n_stale, cache->stale_keys.n);
    }
}

bool kc__watch_cache_is_stale(kc__watch_cache *cache, kc_str key, uint64_t revision)
{
    bool stale = revision <= atomic_load(&cache->stale_until);
    if (stale || !atomic_load(&cache->n_stale))
        return stale;
    kc_locked (&cache->store->forms)
        stale = kc_map_get(&cache->stale_keys, key) != NULL;
    return stale;
}

static void raise_stale(kc__watch_cache *cache, uint64_t revision)
{
    uint64_t was = atomic_load(&cache->stale_until);
    while (was < revision && !atomic_compare_exchange_weak(&cache->stale_until, &was, revision)) {
    }
}

void kc__store_form_stored(const kc__store_batch *batch, const kc__store_change *change)
{
    kc__watch_cache *cache = change->cache;
    const kc_str key = kc__store_event_key(change->event);
    if (!batch->encryption)
        return;
    if (atomic_load(&cache->n_stale))
        kc_locked (&batch->store->forms) {
            free(kc_map_remove(&cache->stale_keys, key));
            atomic_store(&cache->n_stale, cache->stale_keys.n);
        }
    kc_auto(kc__encryption_config) *now = kc__encryption_current(batch->store->opts.encryption);
    if (now != batch->encryption &&
        !kc__encryption_same_writer(batch->encryption, now, cache->resource))
        raise_stale(cache, change->event->revision);
}

/* Runs on the reload thread. */
static void encryption_changed(const kc__encryption_config *before,
                               const kc__encryption_config *now, void *user)
{
    kc__store *store = user;
    const uint64_t revision = kc__store_revision(store);
    kc_locked (&store->naming)
        kc_vec_each (&store->by_number, cache)
            if (*cache && !kc__encryption_same_writer(before, now, (*cache)->resource))
                raise_stale(*cache, revision);
    kc_vec_each (&store->others, other)
        encryption_changed(before, now, *other);
}

void kc__store_forms_start(kc__store *store)
{
    if (store->opts.encryption)
        kc__encryption_on_change(store->opts.encryption, encryption_changed, store);
}

void kc__store_forms_stop(kc__store *store)
{
    if (store->opts.encryption)
        kc__encryption_on_change(store->opts.encryption, NULL, NULL);
}

void kc__store_forms_done(kc__watch_cache *cache)
{
    kc_map_each (&cache->unreadable, entry)
        unreadable_free(entry->value);
    kc_map_done(&cache->unreadable);
    kc_map_each (&cache->stale_keys, entry)
        free(entry->value);
    kc_map_done(&cache->stale_keys);
}
