/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for objects whose stored value cannot be decrypted, and for stale ones. */
#include "api_testing.h"

#include "encryption_testing.h"

#define SECRETS "/api/v1/namespaces/default/secrets"

typedef struct sealed_api {
    api *a;
    scratch *dir;
    kc__encryption *encryption;
} sealed_api;

static void sealed_api_done(sealed_api *t)
{
    api_stop(t->a);
    kc__encryption_free(t->encryption);
    scratch_free(t->dir);
}

static void start_sealed(sealed_api *t)
{
    t->encryption = open_encryption(t->dir, true, 20 * KC_MILLISECOND);
    t->a = api_start(&(api_opts){.server.encryption = t->encryption});
}

/* Replaces the configuration while the server runs, and waits until it is in use. */
static void await_stale(const sealed_api *t, const char *key)
{
    kc__watch_cache *cache =
        kc__store_watch_cache(api_inside(t->a)->store, KC_STR("/registry/secrets/"));
    for (int i = 0; i < 3000 && !kc__watch_cache_is_stale(cache, kc_cstr(key), 1); i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_true(kc__watch_cache_is_stale(cache, kc_cstr(key), 1));
}

static const char one[] = "{'metadata':{'name':'one'},'stringData':{'k':'v'}}";

static void update_without_change_rewrites_a_stale_object(void **state)
{
    (void)state;
    kc_scoped(sealed_api) t = {.dir = scratch_new()};
    write_encryption(t.dir, "secrets", {"aesgcm", "key1", 'a'});
    start_sealed(&t);
    const reply *created = api_post(t.a, SECRETS, one);
    assert_code(created, 201);
    const char *version = r_text(created, "metadata.resourceVersion");
    assert_at(api_patch(t.a, SECRETS "/one", "{'data':{'k':'dg=='}}"), "metadata.resourceVersion",
              version);
    write_encryption(t.dir, "secrets", {"aesgcm", "key2", 'b'}, {"aesgcm", "key1", 'a'});
    await_stale(&t, "default/one");
    const reply *rewritten = api_patch(t.a, SECRETS "/one", "{'data':{'k':'dg=='}}");
    assert_code(rewritten, 200);
    assert_string_not_equal(r_text(rewritten, "metadata.resourceVersion"), version);
    assert_at(api_patch(t.a, SECRETS "/one", "{'data':{'k':'dg=='}}"), "metadata.resourceVersion",
              r_text(rewritten, "metadata.resourceVersion"));
}

#define WHY "no matching key was found for the provided AES transformer"

static void requests_for_an_unreadable_object_get_500(void **state)
{
    (void)state;
    kc_scoped(sealed_api) t = {.dir = scratch_new()};
    write_encryption(t.dir, "secrets", {"aesgcm", "key1", 'a'});
    start_sealed(&t);
    assert_code(api_post(t.a, SECRETS, one), 201);
    write_encryption(t.dir, "secrets", {"aesgcm", "key2", 'b'});
    await_stale(&t, "default/one");
    assert_code(api_post(t.a, SECRETS, "{'metadata':{'name':'two'}}"), 201);
    api_restart(t.a);
    const char *message = "Internal error occurred: " WHY;
    assert_status(api_get(t.a, SECRETS "/one"), 500, "InternalError", message);
    assert_status(api_delete(t.a, SECRETS "/one", NULL), 500, "InternalError", message);
    assert_status(api_patch(t.a, SECRETS "/one", "{'data':{}}"), 500, "InternalError", message);
    assert_status(api_put(t.a, SECRETS "/one", one), 500, "InternalError", message);
    assert_status(api_post(t.a, SECRETS, one), 409, "AlreadyExists",
                  "secrets \"one\" already exists");
    const char *listing = "Internal error occurred: unable to transform key "
                          "\"/registry/secrets/default/one\": " WHY;
    assert_status(api_get(t.a, SECRETS), 500, "InternalError", listing);
    assert_status(api_get(t.a, "/api/v1/secrets?limit=1"), 500, "InternalError", listing);
    assert_code(api_get(t.a, SECRETS "/two"), 200);
    assert_code(api_get(t.a, "/api/v1/namespaces/kube-system/secrets"), 200);
}

TESTS(update_without_change_rewrites_a_stale_object, requests_for_an_unreadable_object_get_500)
