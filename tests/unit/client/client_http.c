/* SPDX-License-Identifier: Apache-2.0 */
/* The client over HTTP: the same server, reached by its port. */
#include "client_testing.h"

typedef struct far {
    kc_embed *server;
    kc_config *config;
    kc_client *client;
} far;

static far *far_start(kc_metrics *metrics)
{
    kc_scoped(kc_error) err = {0};
    far *f = kc_new(far);
    f->server = kc_embed_start(&(kc_embed_opts){.port = -1, .threads = 1}, &err);
    if (!f->server)
        fail_msg("%s", kc_error_text(&err));
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc_embed_port(f->server));
    f->config = kc_config_for_url(url);
    f->client = kc_client_new(&(kc_client_opts){.config = f->config, .metrics = metrics}, &err);
    if (!f->client)
        fail_msg("%s", kc_error_text(&err));
    return f;
}

static void far_stop(far *f)
{
    kc_client_unref(f->client);
    kc_config_free(f->config);
    kc_embed_stop(f->server);
    free(f);
}
KC_AUTO_DEFINE(far, far_stop)

static void objects_are_written_and_read_over_http(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(far) *f = far_start(metrics);
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_object) *made = kc_client_create(f->client, object, NULL, NULL);
    assert_non_null(made);
    kc_auto(kc_object) *read = kc_client_get(f->client, &kc_kind_config_map, KEY("a"), NULL, NULL);
    assert_str(kc_object_json(read), kc_object_json(made).p);
    kc_scoped(kc_objects) list = {0};
    assert_int_equal(kc_client_list(f->client, &kc_kind_config_map,
                                    &(kc_list_opts){.ns = "default"}, &list, NULL),
                     0);
    assert_int_equal(list.n, 1);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(f->client, &kc_kind_config_map, KEY("b"), NULL, &err));
    assert_error(&err, KC_NOT_FOUND, "configmaps \"b\" not found");
    assert_int_equal(kc_client_delete(f->client, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
}

static void watches_come_over_http(void **state)
{
    (void)state;
    kc_auto(far) *f = far_start(NULL);
    kc_auto(kc_watch) *watch =
        kc_client_watch(f->client, &kc_kind_config_map, &(kc_watch_opts){.ns = "default"}, NULL);
    assert_non_null(watch);
    kc_watch_event event;
    kc_scoped(kc_error) err = {0};
    const int64_t now = kc_clock_now(kc_clock_real());
    assert_true(kc_watch_next(watch, now + KC_MILLISECOND, &event, &err) < 0);
    assert_true(kc_is_timeout(&err));
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_object) *made = kc_client_create(f->client, object, NULL, NULL);
    assert_int_equal(kc_watch_next(watch, now + 30 * KC_SECOND, &event, NULL), 1);
    assert_str(kc_object_name(event.object), "a");
    kc_object_unref(event.object);
}

static void a_server_that_is_gone_is_unavailable(void **state)
{
    (void)state;
    kc_auto(far) *f = far_start(NULL);
    f->server = kc_embed_stop(f->server);
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(f->client, object, NULL, &err));
    assert_true(kc_is_unavailable(&err));
    assert_int_equal(err.code, 0);
}

TESTS(objects_are_written_and_read_over_http, watches_come_over_http,
      a_server_that_is_gone_is_unavailable)
