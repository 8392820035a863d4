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

static void listed(bench *b, const kc_list_opts *opts, kc_object_list *ret)
{
    kc_scoped(kc_error) err = {0};
    if (kc_client_list(b->client, &kc_kind_config_map, opts, ret, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void list_returns_all_objects_with_their_kind(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 3);
    kc_scoped(kc_object_list) list = {0};
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

static void empty_list_is_no_error(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_object_list) list = {0};
    listed(b, &(kc_list_opts){.ns = "nowhere"}, &list);
    assert_int_equal(list.n, 0);
    assert_non_null(list.resource_version);
}

static void pages_are_joined(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 7);
    kc_scoped(kc_object_list) list = {0};
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

static void limit_ends_list_with_continue_token(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 7);
    kc_scoped(kc_object_list) list = {0}, rest = {0};
    listed(b, &(kc_list_opts){.ns = "default", .page = 3, .limit = 5}, &list);
    assert_int_equal(list.n, 5);
    assert_non_null(list.continue_token);
    assert_int_equal(list.remaining, 2);
    assert_contains(bench_sent(b, 1), "limit=2&continue=");
    listed(b, &(kc_list_opts){.ns = "default", .continue_token = list.continue_token}, &rest);
    assert_int_equal(rest.n, 2);
    assert_str(kc_object_name(rest.items[0]), "c-005");
}

static void negative_page_size_lists_without_limit(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_object_list) list = {0};
    listed(b,
           &(kc_list_opts){.ns = "default",
                           .page = -1,
                           .resource_version = "0",
                           .resource_version_match = "NotOlderThan"},
           &list);
    assert_string_equal(bench_sent(b, 0),
                        "GET " LIST "?resourceVersion=0&resourceVersionMatch=NotOlderThan");
}

static void selectors_filter_the_list(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 3);
    kc_auto(kc_object) *web = object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                        "'web','namespace':'default','labels':{'app':'web'}}}");
    kc_object_unref(created_as(b, web));
    kc_scoped(kc_object_list) labelled = {0}, named = {0};
    listed(b, &(kc_list_opts){.ns = "default", .labels = "app in (web,db)"}, &labelled);
    assert_int_equal(labelled.n, 1);
    listed(b, &(kc_list_opts){.ns = "default", .fields = "metadata.name=c-001"}, &named);
    assert_int_equal(named.n, 1);
}

static void list_covers_all_namespaces_unless_one_is_set(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 1);
    kc_scoped(kc_object_list) all = {0}, bound = {0};
    listed(b, NULL, &all);
    assert_string_equal(bench_sent(b, 0), "GET /api/v1/configmaps?limit=500");
    assert_true(all.n >= 1);
    kc_auto(kc_client) *in = kc_client_with(b->client, &(kc_client_overrides){.ns = "default"});
    assert_int_equal(kc_client_list(in, &kc_kind_config_map, NULL, &bound, NULL), 0);
    assert_string_equal(bench_sent(b, 1), "GET " LIST "?limit=500");
}

static void metadata_only_list_returns_partial_objects(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 2);
    kc_scoped(kc_object_list) list = {0};
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

static void list_each_delivers_objects_before_the_list_is_complete(void **state)
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

static void callback_can_stop_the_list(void **state)
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

static void list_each_returns_resource_version(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 5);
    counted c = {0};
    kc_scoped(kc_object_list) about = {0};
    assert_int_equal(kc_client_list_each(b->client, &kc_kind_config_map,
                                         &(kc_list_opts){.ns = "default", .page = 2}, count, &c,
                                         &about, NULL),
                     0);
    assert_int_equal(c.n, 5);
    assert_null(about.items);
    assert_non_null(about.resource_version);
    assert_null(about.continue_token);
}

/* ---- errors ---- */

#define EXPIRED                                                                               \
    "{'kind':'Status','apiVersion':'v1','status':'Failure','message':'The provided continue " \
    "parameter is too old','reason':'Expired','code':410}"

static void list_expired_between_pages_is_repeated_unpaged(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    create_many(b, 5);
    bench_script(b, &(scripted){0});
    bench_script(b, &(scripted){.status = 410, .body = EXPIRED});
    kc_scoped(kc_object_list) list = {0};
    listed(b, &(kc_list_opts){.ns = "default", .page = 2}, &list);
    assert_int_equal(list.n, 5);
    assert_string_equal(bench_sent(b, 2), "GET " LIST);
}

static void list_each_expired_between_pages_is_an_error(void **state)
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

static void failed_list_leaves_outputs_unchanged(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_list list = {.n = 99};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_list(b->client, &kc_kind_config_map, &(kc_list_opts){.labels = "a in ("},
                               &list, &err) < 0);
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_int_equal(list.n, 99);
    assert_true(kc_client_list(b->client, &kc_kind_config_map, &(kc_list_opts){.ns = "a/b"}, &list,
                               &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "invalid namespace");
}

static void index_selection_without_cache_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_list list = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_list(b->client, &kc_kind_config_map,
                               &(kc_list_opts){.index = "spec.nodeName", .value = "a"}, &list,
                               &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "only a cache has indexes");
}

static void response_that_is_no_list_is_an_error(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_list list = {0};
    kc_scoped(kc_error) err = {0};
    bench_script(b, &(scripted){.status = 200, .body = "<html>"});
    assert_true(kc_client_list(b->client, &kc_kind_config_map, NULL, &list, &err) < 0);
    assert_error(&err, KC_INTERNAL, "not a JSON list");
}

/* ---- readers ---- */

typedef struct counting_reader {
    kc_reader base;
    int gets, lists;
    char ns[32];
} counting_reader;

static kc_object *reader_get(kc_reader *reader, const kc_kind *kind, kc_key key,
                             const kc_get_opts *opts, kc_cancel *cancel, kc_error *err)
{
    (void)kind, (void)opts, (void)cancel, (void)err;
    counting_reader *s = kc_container_of(reader, counting_reader, base);
    s->gets++;
    snprintf(s->ns, sizeof(s->ns), "%.*s", KC_ARG(key.ns));
    return object_of("{'metadata':{'name':'from-the-reader'}}");
}

static int reader_list(kc_reader *reader, const kc_kind *kind, const kc_list_opts *opts,
                       kc_cancel *cancel, kc_object_list *ret, kc_error *err)
{
    (void)kind, (void)cancel, (void)err;
    counting_reader *s = kc_container_of(reader, counting_reader, base);
    s->lists++;
    snprintf(s->ns, sizeof(s->ns), "%s", opts->ns ? opts->ns : "");
    kc_object **items = kc_calloc(2, sizeof(*items));
    items[0] = object_of("{'a':1}");
    items[1] = object_of("{'a':2}");
    *ret = (kc_object_list){.items = items, .n = 2, .resource_version = kc_strdup("7")};
    return 0;
}

static const kc_reader_ops counting_reader_ops = {.get = reader_get, .list = reader_list};

static void reader_answers_instead_of_the_server(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    counting_reader s = {.base.ops = &counting_reader_ops};
    kc_auto(kc_client) *reading =
        kc_client_with(b->client, &(kc_client_overrides){.reader = &s.base, .ns = "default"});
    kc_auto(kc_object) *one = kc_client_get(reading, &kc_kind_pod, KC_KEY("", "a"), NULL, NULL);
    assert_str(kc_object_name(one), "from-the-reader");
    assert_string_equal(s.ns, "default");
    kc_scoped(kc_object_list) list = {0}, about = {0};
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

static void live_and_unsupported_reads_bypass_the_reader(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    counting_reader s = {.base.ops = &counting_reader_ops};
    kc_auto(kc_client) *reading =
        kc_client_with(b->client, &(kc_client_overrides){.reader = &s.base});
    kc_auto(kc_client) *live = kc_client_with(reading, &(kc_client_overrides){.read_live = true});
    const kc_get_opts gets[] = {
        {.live = true}, {.subresource = "status"}, {.resource_version = "5"}};
    for (size_t i = 0; i < KC_COUNT(gets); i++)
        kc_object_unref(
            kc_client_get(reading, &kc_kind_namespace, KC_KEY("", "default"), &gets[i], NULL));
    kc_object_unref(kc_client_get(live, &kc_kind_namespace, KC_KEY("", "default"), NULL, NULL));
    const kc_list_opts lists[] = {{.live = true}, {.resource_version = "1"}};
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_scoped(kc_object_list) list = {0};
        kc_client_list(reading, &kc_kind_namespace, &lists[i], &list, NULL);
    }
    assert_int_equal(s.gets + s.lists, 0);
    assert_int_equal(bench_count(b), 6);
}

TESTS(list_returns_all_objects_with_their_kind, empty_list_is_no_error, pages_are_joined,
      limit_ends_list_with_continue_token, negative_page_size_lists_without_limit,
      selectors_filter_the_list, list_covers_all_namespaces_unless_one_is_set,
      metadata_only_list_returns_partial_objects,
      list_each_delivers_objects_before_the_list_is_complete, callback_can_stop_the_list,
      list_each_returns_resource_version, list_expired_between_pages_is_repeated_unpaged,
      list_each_expired_between_pages_is_an_error, failed_list_leaves_outputs_unchanged,
      index_selection_without_cache_is_refused, response_that_is_no_list_is_an_error,
      reader_answers_instead_of_the_server, live_and_unsupported_reads_bypass_the_reader)
