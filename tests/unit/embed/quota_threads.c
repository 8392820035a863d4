/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads create objects in a namespace with quotas, which never admit more than they allow.
 */
#include "testing.h"

#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/thread.h"

#include <stdatomic.h>

enum { THREADS = 16, ATTEMPTS = 20, LIMIT = 97 };

static const kc_kind quota_kind = {.version = "v1",
                                   .kind = "ResourceQuota",
                                   .plural = "resourcequotas",
                                   .singular = "resourcequota",
                                   .namespaced = true};

typedef struct crowd {
    kc_embedded_server *server;
    atomic_int next, created, refused;
} crowd;

static void create_until_refused(void *user)
{
    crowd *c = user;
    kc_auto(kc_client) *client = kc_embedded_server_client(c->server, NULL);
    for (int i = 0; i < ATTEMPTS; i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *json =
            kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default',"
                        "'name':'m%d'}}",
                        atomic_fetch_add(&c->next, 1));
        kc_auto(kc_object) *map = object_of(json);
        kc_auto(kc_object) *made = kc_client_create(client, map, NULL, &err);
        if (made)
            atomic_fetch_add(&c->created, 1);
        else if (kc_is_forbidden(&err))
            atomic_fetch_add(&c->refused, 1);
        else
            print_error("%s\n", kc_error_text(&err));
    }
}

/* `hard` and `used` are members of the lists. */
static void make_quota(kc_client *client, const char *name, const char *hard, const char *used)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'namespace':'default','name':'%s'},"
        "'spec':{'hard':{%s}}}",
        name, hard);
    kc_autofree char *status =
        kc_asprintf("{\"status\":{\"hard\":{%s},\"used\":{%s}}}", hard, used);
    for (char *p = status; *p; p++)
        *p = (char)(*p == '\'' ? '"' : *p);
    kc_auto(kc_object) *quota = object_of(json);
    kc_auto(kc_object) *made = kc_client_create(client, quota, NULL, &err);
    assert_non_null(made);
    kc_auto(kc_object) *known =
        kc_client_patch(client, &quota_kind, kc_object_key(made), KC_PATCH_MERGE, kc_cstr(status),
                        &(kc_write_opts){.subresource = "status"}, &err);
    assert_non_null(known);
}

static int64_t count_maps(kc_client *client)
{
    kc_scoped(kc_object_list) maps = {0};
    assert_int_equal(kc_client_list(client, &kc_kind_config_map,
                                    &(kc_list_opts){.ns = "default",
                                                    .fields = "metadata.name!=kube-root-ca.crt"},
                                    &maps, NULL),
                     0);
    return (int64_t)maps.n;
}

static void assert_used(kc_client *client, const char *quota, const char *expected)
{
    kc_auto(kc_object) *object =
        kc_client_get(client, &quota_kind, (kc_key){KC_STR("default"), kc_cstr(quota)}, NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(object);
    assert_value_json(kc_value_nested(kc_view_root(view), "status.used"), expected);
}

static void run_crowd(crowd *c)
{
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = kc_thread_start("crowd", create_until_refused, c, NULL);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
}

static void concurrent_creations_fill_a_quota_exactly(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, NULL);
    crowd c = {.server = server};
    make_quota(client, "tight", "'configmaps':'97'", "'configmaps':'0'");
    make_quota(client, "wide", "'count/configmaps':'1000'", "'count/configmaps':'0'");
    run_crowd(&c);
    assert_int_equal(c.created, LIMIT);
    assert_int_equal(c.refused, THREADS * ATTEMPTS - LIMIT);
    assert_int_equal(count_maps(client), LIMIT);
    assert_used(client, "tight", "{\"configmaps\":\"97\"}");
    assert_used(client, "wide", "{\"count/configmaps\":\"97\"}");
}

TESTS(concurrent_creations_fill_a_quota_exactly)
