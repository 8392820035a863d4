/* SPDX-License-Identifier: Apache-2.0 */
/* A client over HTTP, built from a kubeconfig: with TLS and a certificate, to the real server. */
#include "kc/client.h"
#include "kc/kinds.h"

#include "transport_testing.h"

enum { MAPS = 40, SIZE = 100000 };

static kc_client *client_to(const stage *s)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *yaml = kc_asprintf(
        "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: '%s', certificate-authority: ca.crt}}]\n"
        "users: [{name: u, user: {client-certificate: user.crt, client-key: user.key}}]\n",
        s->tls_url);
    kc_auto(kc_config) *config = kc_config_parse(kc_cstr(yaml), s->folder, NULL, &err);
    kc_client *c = config ? kc_client_new(&(kc_client_opts){.config = config}, &err) : NULL;
    if (!c)
        fail_msg("%s", kc_error_text(&err));
    return c;
}

static void fill(kc_client *c)
{
    kc_autofree char *filler = kc_calloc(1, SIZE + 1);
    memset(filler, 'x', SIZE);
    for (int i = 0; i < MAPS; i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *json = kc_asprintf(
            "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default','name':'m%d'},"
            "'data':{'k':'%s'}}",
            i, filler);
        kc_auto(kc_object) *map = object_of(json);
        kc_auto(kc_object) *made = kc_client_create(c, map, NULL, &err);
        if (!made)
            fail_msg("%s", kc_error_text(&err));
    }
}

typedef struct walk {
    kc_client *c;
    int seen;
} walk;

static int get_in_callback(kc_object *object, void *user, kc_error *err)
{
    walk *w = user;
    kc_auto(kc_object) *mine = object;
    const kc_key key = {kc_object_namespace(mine), kc_object_name(mine)};
    kc_auto(kc_object) *again = kc_client_get(w->c, &kc_kind_config_map, key, NULL, err);
    w->seen += again != NULL;
    return again ? 0 : -1;
}

/* The list is larger than what is read ahead of its reader. */
static void list_does_not_block_requests_of_its_callback(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.refuse_anonymous = true});
    kc_auto(kc_client) *c = client_to(s);
    kc_scoped(kc_error) err = {0};
    walk w = {c, 0};
    fill(c);
    if (kc_client_list_each(c, &kc_kind_config_map, &(kc_list_opts){.ns = "default"},
                            get_in_callback, &w, NULL, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(w.seen, MAPS);
}

static void watch_delivers_writes_of_the_client(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.refuse_anonymous = true});
    kc_auto(kc_client) *c = client_to(s);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_watch) *watch =
        kc_client_watch(c, &kc_kind_config_map, &(kc_watch_opts){.ns = "default"}, &err);
    assert_non_null(watch);
    fill(c);
    for (int i = 0; i < MAPS; i++) {
        kc_watch_event event;
        if (kc_watch_next(watch, KC_FOREVER, &event, &err) != 1)
            fail_msg("%s", kc_error_text(&err));
        assert_int_equal(event.type, KC_WATCH_ADDED);
        kc_object_unref(event.object);
    }
    kc_watch_event event;
    assert_int_equal(
        kc_watch_next(watch, kc_clock_deadline(kc_clock_real(), 20 * KC_MILLISECOND), &event, &err),
        -KC_TIMEOUT);
}

TESTS(list_does_not_block_requests_of_its_callback, watch_delivers_writes_of_the_client)
