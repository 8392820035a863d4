/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_objects.c: reads the objects of tokens from the watch caches, and notes in the Secret of
 * a legacy token when it was last used.
 *
 * The note is the label kubernetes.io/legacy-token-last-used, a date: operators find unused tokens
 * by it. It is written once a day and Secret, one write at a time for the whole server; while one
 * is pending, others are left to the next use. A failed write is left to the next use, too.
 */
#include "apiserver/background/account_objects.h"

#include "apiserver/kinds/key_layout.h"
#include "kc/edit.h"
#include "kc/meta.h"

#define LAST_USED "kubernetes.io/legacy-token-last-used"

struct kc__account_objects {
    kc__rest_api *api;
    kc__sa_tokens *tokens;
    kc__watch_cache *caches[KC__SA_N_KINDS];
    _Atomic bool noting;   /* The fields below belong to the write in progress. */
    kc__store_write write; /* Of the label. */
    kc_object *noted;
    char *key;
};

kc_object *kc__account_objects_get(kc__account_objects *objects, kc__sa_kind kind, kc_str ns,
                                   kc_str name)
{
    char short_key[128];
    const size_t n = ns.n + (ns.n > 0) + name.n;
    char *key = n < sizeof(short_key) ? short_key : kc_alloc(n + 1);
    if (ns.n) {
        memcpy(key, ns.p, ns.n);
        key[ns.n] = '/';
    }
    memcpy(key + ns.n + (ns.n > 0), name.p, name.n);
    kc_object *found = kc__watch_cache_get(objects->caches[kind], kc_str_of(key, n));
    if (key != short_key)
        free(key);
    return found;
}

static kc_object *get_for_token(kc__sa_kind kind, kc_str ns, kc_str name, void *user)
{
    return kc__account_objects_get(user, kind, ns, name);
}

/* ---- last use of legacy tokens ---- */

static void noted_use(kc__store_write *write)
{
    kc__account_objects *objects = kc_container_of(write, kc__account_objects, write);
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    objects->noted = kc_object_unref(objects->noted);
    free(objects->key);
    atomic_store(&objects->noting, false);
}

static kc_object *with_last_use(const kc_object *secret, kc_str today)
{
    kc_auto(kc_edit) *edit = kc_edit_of(secret);
    kc_edit_set_label(edit, KC_STR(LAST_USED), today);
    return kc_edit_freeze(edit, NULL);
}

/* Any thread; the write runs on the committer, its end on the first loop. */
static void note_use(const kc_object *secret, kc_str today, void *user)
{
    kc__account_objects *objects = user;
    if (kc_object_label_is(secret, KC_STR(LAST_USED), today) ||
        atomic_exchange(&objects->noting, true))
        return;
    objects->noted = with_last_use(secret, today);
    if (!objects->noted) {
        atomic_store(&objects->noting, false);
        return;
    }
    objects->key = kc_asprintf("%.*s/%.*s", KC_ARG(kc_object_namespace(secret)),
                               KC_ARG(kc_object_name(secret)));
    objects->write = (kc__store_write){.cache = objects->caches[KC__SA_SECRET],
                                       .verb = KC__STORAGE_PUT,
                                       .key = kc_cstr(objects->key),
                                       .expected = kc_object_revision(secret),
                                       .object = objects->noted,
                                       .loop = objects->api->contexts[0].loop,
                                       .done = noted_use};
    kc__store_submit(objects->api->store, &objects->write);
}

/* ---- attaching ---- */

kc__account_objects *kc__account_objects_attach(kc__rest_api *api, kc__sa_tokens *tokens)
{
    static const char *const plurals[KC__SA_N_KINDS] = {[KC__SA_ACCOUNT] = "serviceaccounts",
                                                        [KC__SA_SECRET] = "secrets",
                                                        [KC__SA_POD] = "pods",
                                                        [KC__SA_NODE] = "nodes"};
    kc__account_objects *objects = kc_new(kc__account_objects);
    objects->api = api;
    objects->tokens = tokens;
    for (size_t i = 0; i < KC__SA_N_KINDS; i++)
        objects->caches[i] =
            kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix("", plurals[i]));
    kc__sa_tokens_attach(tokens, &(kc__sa_objects){get_for_token, note_use, objects});
    return objects;
}

kc__account_objects *kc__account_objects_free(kc__account_objects *objects)
{
    if (!objects)
        return NULL;
    kc__sa_tokens_attach(objects->tokens, NULL);
    free(objects);
    return NULL;
}
