/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

#define LIST "/api/v1/namespaces/default/configmaps"

static void create_many(bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "c-%03d", i);
        kc_object_unref(created(b, name));
    }
    bench_forget(b);
}

static void listed(bench *b, const kc_list_opts *opts, kc_objects *ret)
{
    kc_scoped(kc_error) err = {0};
    if (kc_client_list(b->client, &kc_kind_config_map, opts, ret, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void a_list_has_every_object_with_its_kind(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 3);
    kc_scoped(kc_objects) list = {0};
    listed(b, &(kc_list_opts){.ns = "default"}, &list);
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < list.n; i++) {
        kc_auto(kc_object) *one =
            kc_client_get(b->client, &kc_kind_config_map, kc_object_key(list.items[i]), NULL, NULL);
        assert_str(kc_object_kind(list.items[i]), "ConfigMap");
        assert_str(kc_object_api_version(list.items[i]), "v1");
        assert_str(kc_object_json(one), kc_object_json(list.items[i]).p);
    }
    assert_true(strtoull(list.resource_version, NULL, 10) >= kc_object_revision(list.items[2]));
    assert_null(list.continue_token);
}

static void an_empty_list_is_no_error(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_objects) list = {0};
    listed(b, &(kc_list_opts){.ns = "nowhere"}, &list);
    assert_int_equal(list.n, 0);
    assert_non_null(list.resource_version);
}

static void pages_are_put_together(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 7);
    kc_scoped(kc_objects) list = {0};
    listed(b, &(kc_list_opts){.ns = "default", .page = 3}, &list);
    assert_int_equal(list.n, 7);
    assert_int_equal(bench_count(b), 3);
    assert_string_equal(bench_sent(b, 0), "GET " LIST "?limit=3");
    assert_contains(bench_sent(b, 1), "limit=3&continue=");
    for (size_t i = 0; i < list.n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "c-%03zu", i);
        assert_str(kc_object_name(list.items[i]), name);
    }
}

static void a_limit_ends_a_list_and_says_where_to_go_on(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 7);
    kc_scoped(kc_objects) list = {0}, rest = {0};
    listed(b, &(kc_list_opts){.ns = "default", .page = 3, .limit = 5}, &list);
    assert_int_equal(list.n, 5);
    assert_non_null(list.continue_token);
    assert_int_equal(list.remaining, 2);
    assert_contains(bench_sent(b, 1), "limit=2&continue=");
    listed(b, &(kc_list_opts){.ns = "default", .continue_token = list.continue_token}, &rest);
    assert_int_equal(rest.n, 2);
    assert_str(kc_object_name(rest.items[0]), "c-005");
}

static void everything_can_be_asked_for_at_once(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_objects) list = {0};
    listed(b,
           &(kc_list_opts){.ns = "default",
                           .page = -1,
                           .resource_version = "0",
                           .resource_version_match = "NotOlderThan"},
           &list);
    assert_string_equal(bench_sent(b, 0),
                        "GET " LIST "?resourceVersion=0&resourceVersionMatch=NotOlderThan");
}

static void selectors_choose(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 3);
    kc_auto(kc_object) *web = object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                        "'web','namespace':'default','labels':{'app':'web'}}}");
    kc_object_unref(created_as(b, web));
    kc_scoped(kc_objects) labelled = {0}, named = {0};
    listed(b, &(kc_list_opts){.ns = "default", .labels = "app in (web,db)"}, &labelled);
    assert_int_equal(labelled.n, 1);
    listed(b, &(kc_list_opts){.ns = "default", .fields = "metadata.name=c-001"}, &named);
    assert_int_equal(named.n, 1);
}

static void all_namespaces_unless_one_is_said(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 1);
    kc_scoped(kc_objects) all = {0}, bound = {0};
    listed(b, NULL, &all);
    assert_string_equal(bench_sent(b, 0), "GET /api/v1/configmaps?limit=500");
    assert_true(all.n >= 1);
    kc_auto(kc_client) *in = kc_client_with(b->client, &(kc_client_bind){.ns = "default"});
    assert_int_equal(kc_client_list(in, &kc_kind_config_map, NULL, &bound, NULL), 0);
    assert_string_equal(bench_sent(b, 1), "GET " LIST "?limit=500");
}

static void metadata_alone_can_be_listed(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 2);
    kc_scoped(kc_objects) list = {0};
    listed(b, &(kc_list_opts){.ns = "default", .metadata_only = true}, &list);
    assert_int_equal(list.n, 2);
    assert_str(kc_object_name(list.items[0]), "c-000");
    assert_null(strstr(kc_object_json(list.items[0]).p, "\"data\""));
}

/* ---- streamed ---- */

typedef struct counted {
    int n, stop_at;
} counted;

static int count(kc_object *object, void *user, kc_error *err)
{
    counted *c = user;
    kc_object_unref(object);
    return ++c->n == c->stop_at ? kc_error_set(err, KC_GONE, "enough") : 0;
}

static void objects_are_given_while_the_list_comes(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    /* The connection breaks behind the second object: both were given. */
    bench_script(b, &(scripted){.status = 200,
                                .body = "{'items':[{'a':1},{'b':2},{'c'",
                                .piece = 5,
                                .breaks = true});
    counted c = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_list_each(b->client, &kc_kind_config_map, NULL, count, &c, NULL, &err) <
                0);
    assert_true(kc_is_unavailable(&err));
    assert_int_equal(c.n, 2);
}

static void who_gets_the_objects_can_end_the_list(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 5);
    counted c = {.stop_at = 3};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_client_list_each(b->client, &kc_kind_config_map, &(kc_list_opts){.page = 2},
                                         count, &c, NULL, &err),
                     -KC_GONE);
    assert_error(&err, KC_GONE, "enough");
    assert_int_equal(c.n, 3);
    assert_int_equal(bench_count(b), 2);
}

static void a_streamed_list_tells_its_version(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 5);
    counted c = {0};
    kc_scoped(kc_objects) about = {0};
    assert_int_equal(kc_client_list_each(b->client, &kc_kind_config_map,
                                         &(kc_list_opts){.ns = "default", .page = 2}, count, &c,
                                         &about, NULL),
                     0);
    assert_int_equal(c.n, 5);
    assert_null(about.items);
    assert_non_null(about.resource_version);
    assert_null(about.continue_token);
}

/* ---- what goes wrong ---- */

#define EXPIRED                                                                               \
    "{'kind':'Status','apiVersion':'v1','status':'Failure','message':'The provided continue " \
    "parameter is too old','reason':'Expired','code':410}"

static void a_list_that_expires_between_pages_is_asked_for_whole(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 5);
    bench_script(b, &(scripted){0});
    bench_script(b, &(scripted){.status = 410, .body = EXPIRED});
    kc_scoped(kc_objects) list = {0};
    listed(b, &(kc_list_opts){.ns = "default", .page = 2}, &list);
    assert_int_equal(list.n, 5);
    assert_string_equal(bench_sent(b, 2), "GET " LIST);
}

static void a_streamed_list_that_expires_ends_so(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 5);
    bench_script(b, &(scripted){0});
    bench_script(b, &(scripted){.status = 410, .body = EXPIRED});
    counted c = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_list_each(b->client, &kc_kind_config_map,
                                    &(kc_list_opts){.ns = "default", .page = 2}, count, &c, NULL,
                                    &err) < 0);
    assert_true(kc_is_expired(&err));
    assert_int_equal(c.n, 2);
}

static void outputs_of_a_failed_list_are_untouched(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_objects list = {.n = 99};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_list(b->client, &kc_kind_config_map, &(kc_list_opts){.labels = "a in ("},
                               &list, &err) < 0);
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_int_equal(list.n, 99);
    assert_true(kc_client_list(b->client, &kc_kind_config_map, &(kc_list_opts){.ns = "a/b"}, &list,
                               &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "invalid namespace");
}

static void a_server_has_no_indexes(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_objects list = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_list(b->client, &kc_kind_config_map,
                               &(kc_list_opts){.index = "spec.nodeName", .value = "a"}, &list,
                               &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "only a cache has indexes");
}

static void an_answer_that_is_no_list_is_an_error(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_objects list = {0};
    kc_scoped(kc_error) err = {0};
    bench_script(b, &(scripted){.status = 200, .body = "<html>"});
    assert_true(kc_client_list(b->client, &kc_kind_config_map, NULL, &list, &err) < 0);
    assert_error(&err, KC_INTERNAL, "not a list");
}

/* ---- readers ---- */

typedef struct shelf {
    kc_reader base;
    int gets, lists;
    char ns[32];
} shelf;

static kc_object *shelf_get(kc_reader *reader, const kc_kind *kind, kc_key key,
                            const kc_get_opts *opts, kc_cancel *cancel, kc_error *err)
{
    (void)kind, (void)opts, (void)cancel, (void)err;
    shelf *s = kc_container_of(reader, shelf, base);
    s->gets++;
    snprintf(s->ns, sizeof(s->ns), "%.*s", KC_ARG(key.ns));
    return object_of("{'metadata':{'name':'from-the-shelf'}}");
}

static int shelf_list(kc_reader *reader, const kc_kind *kind, const kc_list_opts *opts,
                      kc_cancel *cancel, kc_objects *ret, kc_error *err)
{
    (void)kind, (void)cancel, (void)err;
    shelf *s = kc_container_of(reader, shelf, base);
    s->lists++;
    snprintf(s->ns, sizeof(s->ns), "%s", opts->ns ? opts->ns : "");
    kc_object **items = kc_calloc(2, sizeof(*items));
    items[0] = object_of("{'a':1}");
    items[1] = object_of("{'a':2}");
    *ret = (kc_objects){.items = items, .n = 2, .resource_version = kc_strdup("7")};
    return 0;
}

static const kc_reader_ops shelf_ops = {.get = shelf_get, .list = shelf_list};

static void a_reader_answers_in_the_servers_place(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    shelf s = {.base.ops = &shelf_ops};
    kc_auto(kc_client) *reading =
        kc_client_with(b->client, &(kc_client_bind){.reader = &s.base, .ns = "default"});
    kc_auto(kc_object) *one = kc_client_get(reading, &kc_kind_pod, KC_KEY("", "a"), NULL, NULL);
    assert_str(kc_object_name(one), "from-the-shelf");
    assert_string_equal(s.ns, "default");
    kc_scoped(kc_objects) list = {0}, about = {0};
    assert_int_equal(kc_client_list(reading, &kc_kind_pod, NULL, &list, NULL), 0);
    assert_int_equal(list.n, 2);
    assert_string_equal(s.ns, "default");
    counted c = {0};
    assert_int_equal(kc_client_list_each(reading, &kc_kind_pod, NULL, count, &c, &about, NULL), 0);
    assert_int_equal(c.n, 2);
    assert_string_equal(about.resource_version, "7");
    c = (counted){.stop_at = 1};
    assert_int_equal(kc_client_list_each(reading, &kc_kind_pod, NULL, count, &c, NULL, NULL),
                     -KC_GONE);
    assert_int_equal(bench_count(b), 0);
}

static void some_reads_go_past_the_reader(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    shelf s = {.base.ops = &shelf_ops};
    kc_auto(kc_client) *reading = kc_client_with(b->client, &(kc_client_bind){.reader = &s.base});
    kc_auto(kc_client) *live = kc_client_with(reading, &(kc_client_bind){.read_live = true});
    const kc_get_opts gets[] = {
        {.live = true}, {.subresource = "status"}, {.resource_version = "5"}};
    for (size_t i = 0; i < KC_COUNT(gets); i++)
        kc_object_unref(
            kc_client_get(reading, &kc_kind_namespace, KC_KEY("", "default"), &gets[i], NULL));
    kc_object_unref(kc_client_get(live, &kc_kind_namespace, KC_KEY("", "default"), NULL, NULL));
    const kc_list_opts lists[] = {{.live = true}, {.resource_version = "1"}};
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_scoped(kc_objects) list = {0};
        kc_client_list(reading, &kc_kind_namespace, &lists[i], &list, NULL);
    }
    assert_int_equal(s.gets + s.lists, 0);
    assert_int_equal(bench_count(b), 6);
}

TESTS(a_list_has_every_object_with_its_kind, an_empty_list_is_no_error, pages_are_put_together,
      a_limit_ends_a_list_and_says_where_to_go_on, everything_can_be_asked_for_at_once,
      selectors_choose, all_namespaces_unless_one_is_said, metadata_alone_can_be_listed,
      objects_are_given_while_the_list_comes, who_gets_the_objects_can_end_the_list,
      a_streamed_list_tells_its_version, a_list_that_expires_between_pages_is_asked_for_whole,
      a_streamed_list_that_expires_ends_so, outputs_of_a_failed_list_are_untouched,
      a_server_has_no_indexes, an_answer_that_is_no_list_is_an_error,
      a_reader_answers_in_the_servers_place, some_reads_go_past_the_reader)
