/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of a controller: from changes of objects in a real server to keys in a queue. */
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "runtime/controller/source_internal.h"

#include "testing.h"

#include <stdio.h>

typedef struct fixture {
    kc_embedded_server *server;
    kc_client *client;
    kc_cache *cache;
    kc_queue *queue;
    kc_source *source;
} fixture;

static void begin(fixture *f)
{
    kc_scoped(kc_error) err = {0};
    *f = (fixture){0};
    f->server = kc_embedded_server_start(NULL, &err);
    assert_non_null(f->server);
    f->client = kc_embedded_server_client(f->server, &err);
    assert_non_null(f->client);
    f->cache = kc_cache_new(&(kc_cache_opts){.client = f->client});
    assert_int_equal(kc_cache_start(f->cache, &err), 0);
    f->queue = kc_queue_new(NULL);
}

/* Starts the source and waits until the initial objects are delivered. */
static void start_source(fixture *f, kc_source *source)
{
    kc_scoped(kc_error) err = {0};
    f->source = source;
    assert_int_equal(kc__source_start(f->source, f->queue, &err), 0);
    int64_t deadline = kc_clock_deadline(kc_clock_real(), 30 * KC_SECOND);
    assert_true(kc__source_wait_synced(f->source, deadline, NULL, &err));
}

static void watch(fixture *f, kc_watch_spec what, const kc_predicate *global)
{
    start_source(f, kc__source_watch(f->cache, &what, global));
}

static void unwatch(fixture *f)
{
    if (f->source)
        kc__source_stop(f->source);
    f->source = kc_source_free(f->source);
}

static void fixture_done(fixture *f)
{
    unwatch(f);
    kc_queue_free(f->queue);
    kc_cache_free(f->cache);
    kc_client_unref(f->client);
    kc_embedded_server_stop(f->server);
}

static void create(fixture *f, const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of(text);
    kc_auto(kc_object) *created = kc_client_create(f->client, object, NULL, &err);
    if (!created)
        fail_msg("%s", kc_error_text(&err));
}

static void patch(fixture *f, const char *name, kc_str text)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(
        f->client, &kc_kind_config_map, KC_KEY("default", name), KC_PATCH_MERGE, text, NULL, &err);
    if (!now)
        fail_msg("%s", kc_error_text(&err));
}

static void delete(fixture *f, const char *name)
{
    assert_int_equal(
        kc_client_delete(f->client, &kc_kind_config_map, KC_KEY("default", name), NULL, NULL), 0);
}

/* The next key, which must be this one; its last cause is given back. */
static kc_queue_cause next(fixture *f, const char *ns, const char *name, int priority)
{
    kc_queue_item item;
    assert_true(kc_queue_get(f->queue, &item));
    assert_str(item.key.ns, ns);
    assert_str(item.key.name, name);
    assert_int_equal(item.priority, priority);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.more_causes, 0);
    kc_queue_cause cause = item.causes[0];
    kc_queue_done(f->queue, &item);
    return cause;
}

/* A change that is seen, so that all before it were too. */
static void assert_nothing_before(fixture *f, const char *marker)
{
    char text[128];
    snprintf(text, sizeof(text),
             "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':'default',"
             "'labels':{'seen':'true'}}}",
             marker);
    create(f, text);
    next(f, "default", marker, 0);
}

#define CONFIG(name, more)                                            \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'" name \
    "','namespace':'default'" more "}}"

/* ---- own keys ---- */

static void changes_of_an_object_add_its_key_once(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, CONFIG("first", ""));
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map}, NULL);
    kc_queue_cause cause = next(&f, "default", "first", KC_PRIORITY_LOW);
    assert_int_equal(cause.reason, KC_QUEUE_REASON_CREATED);
    assert_ptr_equal(cause.kind, &kc_kind_config_map);
    assert_true(cause.revision > 0);
    create(&f, CONFIG("second", ""));
    assert_int_equal(next(&f, "default", "second", 0).reason, KC_QUEUE_REASON_CREATED);
    patch(&f, "second", KC_STR("{\"data\":{\"a\":\"b\"}}"));
    assert_int_equal(next(&f, "default", "second", 0).reason, KC_QUEUE_REASON_UPDATED);
    delete (&f, "second");
    assert_int_equal(next(&f, "default", "second", 0).reason, KC_QUEUE_REASON_DELETED);
    assert_nothing_before(&f, "last");
}

static void high_priority_watch_adds_initial_objects_with_normal_priority(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, CONFIG("first", ""));
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map, .high_priority = true}, NULL);
    next(&f, "default", "first", 0);
}

static void watch_with_delay_adds_keys_after_it(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, CONFIG("first", ""));
    const int64_t start = kc_clock_now(kc_clock_real());
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map, .after = 20 * KC_MILLISECOND}, NULL);
    next(&f, "default", "first", KC_PRIORITY_LOW);
    assert_true(kc_clock_now(kc_clock_real()) - start >= 20 * KC_MILLISECOND);
}

static void metadata_only_watch_adds_keys(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, CONFIG("first", ""));
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map, .metadata_only = true}, NULL);
    next(&f, "default", "first", KC_PRIORITY_LOW);
    assert_nothing_before(&f, "second");
}

static void stopped_watch_adds_nothing(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map}, NULL);
    unwatch(&f);
    create(&f, CONFIG("first", ""));
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map}, NULL);
    next(&f, "default", "first", KC_PRIORITY_LOW); /* From the list of the second watch. */
    assert_int_equal(kc_queue_count(f.queue).ready, 0);
}

/* ---- predicates ---- */

static bool count(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    (void)change;
    ++*(_Atomic int *)user;
    return true;
}

static void global_predicate_runs_before_that_of_the_watch(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    _Atomic int calls = 0;
    kc_auto(kc_predicate) *global = kc_predicate_label_selector("seen=true", NULL);
    watch(&f,
          (kc_watch_spec){.kind = &kc_kind_config_map,
                          .predicate = kc_predicate_new(count, (void *)&calls)},
          global);
    create(&f, CONFIG("unseen", ""));
    assert_nothing_before(&f, "seen");
    assert_int_equal(calls, 1);
}

static void predicate_filters_updates(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    watch(&f,
          (kc_watch_spec){.kind = &kc_kind_config_map, .predicate = kc_predicate_labels_changed()},
          NULL);
    create(&f, CONFIG("a", ""));
    next(&f, "default", "a", 0);
    patch(&f, "a", KC_STR("{\"data\":{\"a\":\"b\"}}"));
    assert_nothing_before(&f, "b");
    patch(&f, "a", KC_STR("{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"));
    next(&f, "default", "a", 0);
}

/* ---- owners ---- */

#define OWNED_BY(version, kind, name, controller)                                                \
    ",'ownerReferences':[{'apiVersion':'" version "','kind':'" kind "','name':'" name "','uid':" \
    "'8c5d0a27-0000-4000-8000-000000000001'" controller "}]"

static void change_of_owned_object_adds_its_controller(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map, .owner = &kc_kind_deployment}, NULL);
    create(&f, CONFIG("a", OWNED_BY("apps/v1", "Deployment", "web", ",'controller':true")));
    kc_queue_cause cause = next(&f, "default", "web", 0);
    assert_str(cause.key.name, "a"); /* What it happened to. */
    assert_ptr_equal(cause.kind, &kc_kind_config_map);
    create(&f, CONFIG("b", OWNED_BY("apps/v9", "Deployment", "old", ",'controller':true")));
    next(&f, "default", "old", 0); /* Whatever the version. */
    create(&f, CONFIG("c", OWNED_BY("apps/v1", "Deployment", "no", "")));
    create(&f, CONFIG("d", OWNED_BY("apps/v1", "ReplicaSet", "no", ",'controller':true")));
    create(&f, CONFIG("e", OWNED_BY("other/v1", "Deployment", "no", ",'controller':true")));
    create(&f, CONFIG("f", OWNED_BY("apps/v1", "Deployment", "yes", ",'controller':true")));
    next(&f, "default", "yes", 0);
    delete (&f, "a");
    assert_int_equal(next(&f, "default", "web", 0).reason, KC_QUEUE_REASON_DELETED);
}

static void any_owner_adds_owners_that_are_no_controller(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    watch(&f,
          (kc_watch_spec){
              .kind = &kc_kind_config_map, .owner = &kc_kind_deployment, .any_owner = true},
          NULL);
    create(&f, CONFIG("a", OWNED_BY("apps/v1", "Deployment", "web", "")));
    next(&f, "default", "web", 0);
}

static void key_of_cluster_scoped_owner_has_no_namespace(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    watch(&f,
          (kc_watch_spec){
              .kind = &kc_kind_config_map, .owner = &kc_kind_namespace, .any_owner = true},
          NULL);
    create(&f, CONFIG("a", OWNED_BY("v1", "Namespace", "plant", "")));
    next(&f, "", "plant", 0);
}

static void change_of_owner_adds_both_owners(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map, .owner = &kc_kind_deployment}, NULL);
    create(&f, CONFIG("a", OWNED_BY("apps/v1", "Deployment", "one", ",'controller':true")));
    next(&f, "default", "one", 0);
    patch(&f, "a", KC_STR("{\"data\":{\"a\":\"b\"}}"));
    next(&f, "default", "one", 0); /* Once, though both states name it. */
    patch(&f, "a",
          KC_STR("{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                 "\"Deployment\",\"name\":\"two\",\"uid\":"
                 "\"8c5d0a27-0000-4000-8000-000000000002\",\"controller\":true}]}}"));
    next(&f, "default", "one", 0);
    next(&f, "default", "two", 0);
    assert_int_equal(kc_queue_count(f.queue).ready, 0);
}

/* ---- functions ---- */

static void map_many(const kc_object *object, kc_enqueuer *to, void *user)
{
    int n = *(int *)user;
    char name[32];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        kc_enqueue(to, (kc_key){kc_object_namespace(object), kc_cstr(name)});
        kc_enqueue(to, (kc_key){kc_object_namespace(object), kc_cstr(name)});
    }
}

static void map_function_adds_its_keys(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    int n = 20;
    watch(&f, (kc_watch_spec){.kind = &kc_kind_config_map, .map = map_many, .map_user = &n}, NULL);
    char name[32];
    for (int round = 0; round < 2; round++) {
        if (round == 0)
            create(&f, CONFIG("a", ""));
        else
            patch(&f, "a", KC_STR("{\"data\":{\"a\":\"b\"}}"));
        for (int i = 0; i < n; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            next(&f, "default", name, 0);
        }
        assert_int_equal(kc_queue_count(f.queue).ready, 0);
    }
}

/* ---- syncing ---- */

static void missing_kind_does_not_sync(void **state)
{
    (void)state;
    static const kc_kind nothing = {
        .group = "no.such", .version = "v1", .kind = "Thing", .plural = "things"};
    kc_scoped(fixture) f;
    begin(&f);
    kc_scoped(kc_error) err = {0};
    f.source = kc__source_watch(f.cache, &(kc_watch_spec){.kind = &nothing}, NULL);
    assert_int_equal(kc__source_start(f.source, f.queue, &err), 0);
    int64_t deadline = kc_clock_deadline(kc_clock_real(), 200 * KC_MILLISECOND);
    assert_false(kc__source_wait_synced(f.source, deadline, NULL, &err));
    assert_error(&err, KC_TIMEOUT, "timed out waiting for the cache of Thing to sync");
}

static void wait_for_sync_can_be_cancelled(void **state)
{
    (void)state;
    static const kc_kind nothing = {
        .group = "no.such", .version = "v1", .kind = "Thing", .plural = "things"};
    kc_scoped(fixture) f;
    begin(&f);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    f.source = kc__source_watch(f.cache, &(kc_watch_spec){.kind = &nothing}, NULL);
    assert_int_equal(kc__source_start(f.source, f.queue, &err), 0);
    kc_cancel_fire(cancel);
    assert_false(kc__source_wait_synced(f.source, KC_FOREVER, cancel, &err));
    assert_int_equal(err.reason, 0);
}

static void informer_of_another_cache_is_a_source(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    kc_auto(kc_cache) *other = kc_cache_new(&(kc_cache_opts){.client = f.client});
    assert_int_equal(kc_cache_start(other, NULL), 0);
    kc_auto(kc_informer) *informer = kc_cache_informer(other, &kc_kind_config_map, NULL);
    start_source(&f, kc_source_informer(informer, NULL));
    create(&f, CONFIG("a", ""));
    kc_queue_cause cause = next(&f, "default", "a", 0);
    assert_ptr_equal(cause.kind, &kc_kind_config_map);
    unwatch(&f);
    assert_true(kc_informer_wait_synced(informer, KC_FOREVER, NULL)); /* Still ours. */
}

TESTS(informer_of_another_cache_is_a_source, changes_of_an_object_add_its_key_once,
      high_priority_watch_adds_initial_objects_with_normal_priority,
      watch_with_delay_adds_keys_after_it, metadata_only_watch_adds_keys,
      stopped_watch_adds_nothing, global_predicate_runs_before_that_of_the_watch,
      predicate_filters_updates, change_of_owned_object_adds_its_controller,
      any_owner_adds_owners_that_are_no_controller, key_of_cluster_scoped_owner_has_no_namespace,
      change_of_owner_adds_both_owners, map_function_adds_its_keys, missing_kind_does_not_sync,
      wait_for_sync_can_be_cancelled)
