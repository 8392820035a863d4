/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.c: SHA-256 over all keys and values in order, each with its length before it. Revisions
 * are left out: they differ between copies. Records of servers are left out, as a copy leaves them
 * out (object_keys.h).
 */
#include "apiserver/maintenance/contents.h"

#include "apiserver/maintenance/object_keys.h"
#include "apiserver/maintenance/values.h"

#include <sodium.h>

_Static_assert(KC__MAINTENANCE_DIGEST == crypto_hash_sha256_BYTES, "the digest is SHA-256");

typedef struct contents_walk {
    kc__maintenance_contents *contents;
    const kc__storage *from, *to;
    crypto_hash_sha256_state all, lasting;
    kc_error *err;
} contents_walk;

/* The ciphers authenticate the key with the value. */
static int copy_encrypted(const kc__storage *from, const kc__storage *to, kc_str key, kc_error *err)
{
    kc_scoped(kc_buf) a = {0}, b = {0};
    if (kc_str_eq(kc__storage_outside_key(from, key, &a), kc__storage_outside_key(to, key, &b)))
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "the value is encrypted for the key %.*s, and the copy has the key %.*s: "
                        "decrypt the source with 'kc store rewrite' first, or use the same "
                        "--etcd-prefix",
                        KC_ARG(kc__storage_outside_key(from, key, &a)),
                        KC_ARG(kc__storage_outside_key(to, key, &b)));
}

static int convert_value(const kc__storage *to, const kc__storage_entry *entry, kc_buf *out,
                         kc__maintenance_copied *ret, kc_error *err)
{
    bool lossy = false;
    kc_auto(kc_object) *object =
        kc__maintenance_decode_value(entry->key, entry->value, &lossy, err);
    kc_buf_clear(out);
    if (!object || kc__maintenance_encode_value(to, entry->key, object, out, err) < 0)
        return kc_error_result(err);
    *ret = (kc__maintenance_copied){.value = kc_buf_str(out), .converted = true, .lossy = lossy};
    return 0;
}

int kc__maintenance_copy_value(const kc__storage *from, const kc__storage *to,
                               const kc__storage_entry *entry, kc_buf *out,
                               kc__maintenance_copied *ret, kc_error *err)
{
    const bool encrypted = kc__maintenance_is_encrypted(entry->value);
    const bool same_form = from->backend->exclusive == to->backend->exclusive;
    int failed = 0;
    *ret = (kc__maintenance_copied){.value = entry->value};
    if (encrypted)
        failed = copy_encrypted(from, to, entry->key, err);
    else if (!same_form)
        failed = convert_value(to, entry, out, ret, err);
    return failed ? kc_error_wrap(err, "%.*s", KC_ARG(entry->key)) : 0;
}

static void digest_text(crypto_hash_sha256_state *state, kc_str text)
{
    const uint64_t n = text.n;
    crypto_hash_sha256_update(state, (const unsigned char *)&n, sizeof(n));
    crypto_hash_sha256_update(state, (const unsigned char *)text.p, text.n);
}

static int digest_entry(const kc__storage_entry *entry, void *user)
{
    contents_walk *w = user;
    kc_scoped(kc_buf) out = {0};
    kc__maintenance_copied copied = {.value = entry->value};
    if (!kc__maintenance_is_object(entry->key))
        return 0;
    if (w->to && kc__maintenance_copy_value(w->from, w->to, entry, &out, &copied, w->err) < 0)
        return kc_error_result(w->err);
    const bool event = kc__maintenance_is_event(entry->key);
    crypto_hash_sha256_state *const states[] = {&w->all, &w->lasting};
    for (size_t i = 0; i < (event ? 1 : KC_COUNT(states)); i++) {
        digest_text(states[i], entry->key);
        digest_text(states[i], copied.value);
    }
    w->contents->objects++;
    w->contents->events += event;
    return 0;
}

int kc__maintenance_contents_read(kc__storage *storage, uint64_t revision, const kc__storage *to,
                                  kc__maintenance_contents *ret, kc_error *err)
{
    kc__maintenance_contents contents = {0};
    contents_walk w = {.contents = &contents, .from = storage, .to = to, .err = err};
    const kc__storage_list_opts opts = {.revision = revision};
    crypto_hash_sha256_init(&w.all);
    crypto_hash_sha256_init(&w.lasting);
    if (kc__storage_list(storage, &opts, digest_entry, &w, NULL, err) < 0)
        return kc_error_result(err);
    crypto_hash_sha256_final(&w.all, contents.all);
    crypto_hash_sha256_final(&w.lasting, contents.lasting);
    *ret = contents;
    return 0;
}

bool kc__maintenance_contents_equal(const kc__maintenance_contents *a,
                                    const kc__maintenance_contents *b, bool events_expire)
{
    if (a->objects == b->objects && memcmp(a->all, b->all, sizeof(a->all)) == 0)
        return true;
    return events_expire && a->objects - a->events == b->objects - b->events &&
           memcmp(a->lasting, b->lasting, sizeof(a->lasting)) == 0;
}
