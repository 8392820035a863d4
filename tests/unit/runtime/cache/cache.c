/* SPDX-License-Identifier: Apache-2.0 */
#include "plane.h"

#include "runtime/cache/cache_internal.h"

/* ---- reading ---- */

static void read_starts_informer_and_waits_for_its_list(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    create(p->client, "default", "one", "", "v");
    kc_auto(kc_object) *one =
        kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), NULL);
    assert_non_null(one);
    assert_false(kc_object_has_managed_fields(one));
    kc_scoped(kc_error) err = {0};
    assert_null(kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "two"), &err));
    assert_error(&err, KC_NOT_FOUND, "configmaps \"two\" not found");
    plane_free(p);
}

static void read_before_start_fails(void **state)
{
    (void)state;
    plane *p = plane_new(NULL);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "has not been started");
    plane_free(p);
}

static void read_after_stop_returns_cached_objects(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    create(p->client, "default", "one", "", "v");
    eventually(has(p, "default", "one"));
    kc_cache_stop(p->cache);
    assert_true(has(p, "default", "one"));
    kc_scoped(kc_error) err = {0};
    assert_null(kc_cache_get(p->cache, &kc_kind_secret, KC_KEY("default", "one"), &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "stopped");
    plane_free(p);
}

static void read_without_informer_fails_with_fail_on_missing(void **state)
{
    (void)state;
    plane *p = plane_started(&(kc_cache_opts){.fail_on_missing = true});
    kc_scoped(kc_error) err = {0};
    assert_null(kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "no informer of configmaps");
    kc_auto(kc_informer) *informer = kc_cache_informer(p->cache, &kc_kind_config_map, NULL);
    assert_false(has(p, "default", "one"));
    kc_informer_release(kc_take(informer));
    plane_free(p);
}

static void read_times_out_when_first_list_fails(void **state)
{
    (void)state;
    plane *p = plane_new(&(kc_cache_opts){.sync_timeout = 50 * KC_MILLISECOND});
    faulty_respond(p->faults, "/api/v1/configmaps", -1, 403,
                   "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Forbidden\","
                   "\"message\":\"not for you\",\"code\":403}");
    kc_informer *informer = kc_cache_informer(p->cache, &kc_kind_config_map, NULL);
    kc_cache_start(p->cache, NULL);
    eventually(kc_informer_last_error(informer, NULL));
    kc_scoped(kc_error) err = {0};
    assert_null(kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), &err));
    assert_error(&err, KC_TIMEOUT, "not for you");
    kc_informer_release(informer);
    plane_free(p);
}

static void list_selects_by_namespace_labels_fields_and_limit(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    create(p->client, "default", "one", "'app':'web'", "v");
    create(p->client, "default", "two", "'app':'db'", "v");
    create(p->client, "kube-system", "three", "'app':'web'", "w");
    assert_int_equal(count(p, NULL), 3);
    assert_int_equal(count(p, &(kc_list_opts){.ns = "default"}), 2);
    assert_int_equal(count(p, &(kc_list_opts){.labels = "app=web"}), 2);
    assert_int_equal(count(p, &(kc_list_opts){.ns = "default", .labels = "app=web"}), 1);
    assert_int_equal(count(p, &(kc_list_opts){.fields = "metadata.name=three"}), 1);
    assert_int_equal(count(p, &(kc_list_opts){.fields = "data.k=v,metadata.name!=one"}), 1);
    assert_int_equal(count(p, &(kc_list_opts){.limit = 2}), 2);
    kc_scoped(kc_error) err = {0};
    kc_object_list list = {0};
    assert_true(kc_cache_list(p->cache, &kc_kind_config_map, &(kc_list_opts){.continue_token = "x"},
                              &list, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "continue");
    plane_free(p);
}

static void emit_words(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_str rest = kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "data"), "k"));
    while (rest.p)
        emit(kc_str_cut(&rest, ' '), to);
}

static void indexes_find_by_function_and_by_path(void **state)
{
    (void)state;
    plane *p = plane_new(NULL);
    assert_int_equal(
        kc_cache_add_index(p->cache, &kc_kind_config_map, "words", emit_words, NULL, NULL), 0);
    assert_int_equal(kc_cache_add_path_index(p->cache, &kc_kind_config_map, "data.k", NULL), 0);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_cache_add_path_index(p->cache, &kc_kind_config_map, "data.k", &err) < 0);
    assert_int_equal(err.reason, KC_CONFLICT);
    kc_cache_start(p->cache, NULL);
    create(p->client, "default", "one", "", "red green");
    create(p->client, "kube-system", "two", "", "green");
    assert_int_equal(count(p, &(kc_list_opts){.index = "words", .value = "green"}), 2);
    assert_int_equal(count(p, &(kc_list_opts){.index = "words", .value = "green", .ns = "default"}),
                     1);
    assert_int_equal(count(p, &(kc_list_opts){.index = "data.k", .value = "green"}), 1);
    assert_int_equal(count(p, &(kc_list_opts){.fields = "words=red"}), 1);
    assert_int_equal(count(p, &(kc_list_opts){.fields = "words=blue"}), 0);
    kc_object_list list = {0};
    kc_error_done(&err);
    assert_true(kc_cache_list(p->cache, &kc_kind_config_map,
                              &(kc_list_opts){.index = "none", .value = "x"}, &list, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "no index \"none\"");
    kc_error_done(&err);
    assert_true(kc_cache_add_path_index(p->cache, &kc_kind_config_map, "data.x", &err) < 0);
    assert_error(&err, KC_CONFLICT, "has started");
    plane_free(p);
}

/* ---- cached objects ---- */

static void only_configured_namespaces_are_cached(void **state)
{
    (void)state;
    const char *const namespaces[] = {"default", "kube-public", NULL};
    plane *p = plane_started(&(kc_cache_opts){.namespaces = namespaces});
    create(p->client, "default", "one", "", "v");
    create(p->client, "kube-public", "two", "", "v");
    create(p->client, "kube-system", "three", "", "v");
    assert_int_equal(count(p, NULL), 2);
    assert_int_equal(count(p, &(kc_list_opts){.ns = "kube-public"}), 1);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("kube-system", "three"), &err));
    assert_error(&err, KC_BAD_REQUEST, "does not include namespace \"kube-system\"");
    assert_int_equal(faulty_count(p->faults, "GET /api/v1/namespaces/default/configmaps"), 1);
    plane_free(p);
}

static void label_selector_limits_cached_objects(void **state)
{
    (void)state;
    const kc_cache_kind_opts kinds[] = {{.kind = &kc_kind_config_map, .labels = "app=web"}};
    plane *p = plane_started(&(kc_cache_opts){.kinds = kinds, .n_kinds = 1});
    create(p->client, "default", "one", "'app':'web'", "v");
    create(p->client, "default", "two", "'app':'db'", "v");
    assert_int_equal(count(p, NULL), 1);
    plane_free(p);
}

static kc_object *without_data(kc_object *object, void *user)
{
    (void)user;
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node_remove(kc_edit_root(edit), KC_STR("data"));
    kc_object_unref(object);
    return kc_edit_freeze(edit, NULL);
}

static void transform_changes_cached_objects(void **state)
{
    (void)state;
    plane *p = plane_started(&(kc_cache_opts){.transform = without_data});
    create(p->client, "default", "one", "", "secret");
    kc_auto(kc_object) *one =
        kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), NULL);
    assert_false(kc_str_contains(kc_object_json(one), KC_STR("secret")));
    create(p->cached, "default", "two", "", "secret");
    kc_auto(kc_object) *two =
        kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "two"), NULL);
    assert_false(kc_str_contains(kc_object_json(two), KC_STR("secret")));
    plane_free(p);
}

static void metadata_only_kind_caches_metadata(void **state)
{
    (void)state;
    const kc_cache_kind_opts kinds[] = {{.kind = &kc_kind_config_map, .metadata_only = true}};
    plane *p = plane_started(&(kc_cache_opts){.kinds = kinds, .n_kinds = 1});
    create(p->client, "default", "one", "", "secret");
    kc_auto(kc_object) *one =
        kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), NULL);
    assert_str(kc_object_kind(one), "PartialObjectMetadata");
    create(p->cached, "default", "two", "", "secret");
    kc_auto(kc_object) *two =
        kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "two"), NULL);
    assert_str(kc_object_kind(two), "PartialObjectMetadata");
    plane_free(p);
}

/* ---- own writes ---- */

/* A plane whose watch brings nothing any more. */
static plane *plane_behind(const kc_cache_opts *opts)
{
    plane *p = plane_started(opts);
    count(p, NULL); /* The first list. */
    faulty_freeze(p->faults, true);
    return p;
}

static void created_object_is_read_while_watch_lags(void **state)
{
    (void)state;
    plane *p = plane_behind(NULL);
    create(p->cached, "default", "one", "'app':'web'", "v");
    assert_true(has(p, "default", "one"));
    assert_int_equal(count(p, &(kc_list_opts){.labels = "app=web"}), 1);
    assert_int_equal(count(p, &(kc_list_opts){.labels = "app=db"}), 0);
    faulty_freeze(p->faults, false);
    eventually(kc_cache_check(p->cache, NULL) == 0 && has(p, "default", "one"));
    plane_free(p);
}

static void write_of_another_client_is_read_after_its_event(void **state)
{
    (void)state;
    plane *p = plane_behind(NULL);
    create(p->client, "default", "one", "", "v");
    assert_false(has(p, "default", "one"));
    faulty_freeze(p->faults, false);
    eventually(has(p, "default", "one"));
    plane_free(p);
}

static void updated_object_is_found_by_its_new_index(void **state)
{
    (void)state;
    plane *p = plane_new(NULL);
    kc_cache_add_path_index(p->cache, &kc_kind_config_map, "data.k", NULL);
    kc_cache_start(p->cache, NULL);
    create(p->client, "default", "one", "", "old");
    assert_int_equal(count(p, &(kc_list_opts){.index = "data.k", .value = "old"}), 1);
    faulty_freeze(p->faults, true);
    kc_auto(kc_object) *changed = config_map("default", "one", "", "new");
    kc_auto(kc_object) *now = kc_client_update(p->cached, changed, NULL, NULL);
    assert_non_null(now);
    assert_int_equal(count(p, &(kc_list_opts){.index = "data.k", .value = "old"}), 0);
    assert_int_equal(count(p, &(kc_list_opts){.index = "data.k", .value = "new"}), 1);
    assert_int_equal(count(p, NULL), 1);
    kc_auto(kc_object) *read =
        kc_client_get(p->cached, &kc_kind_config_map, KC_KEY("default", "one"), NULL, NULL);
    assert_int_equal(kc_object_revision(read), kc_object_revision(now));
    plane_free(p);
}

static void deleted_object_is_not_read_while_watch_lags(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    create(p->client, "default", "one", "", "v");
    assert_int_equal(count(p, NULL), 1);
    faulty_freeze(p->faults, true);
    assert_int_equal(
        kc_client_delete(p->cached, &kc_kind_config_map, KC_KEY("default", "one"), NULL, NULL), 0);
    assert_false(has(p, "default", "one"));
    assert_int_equal(count(p, NULL), 0);
    create(p->cached, "default", "one", "", "again");
    assert_true(has(p, "default", "one"));
    faulty_freeze(p->faults, false);
    eventually(has(p, "default", "one"));
    plane_free(p);
}

static void deleted_object_with_finalizer_is_read_as_terminating(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    kc_auto(kc_object) *held = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'default','name':'one',"
        "'finalizers':['example.com/hold']}}");
    kc_auto(kc_object) *made = kc_client_create(p->cached, held, NULL, NULL);
    assert_non_null(made);
    assert_int_equal(count(p, NULL), 1);
    faulty_freeze(p->faults, true);
    assert_int_equal(
        kc_client_delete(p->cached, &kc_kind_config_map, KC_KEY("default", "one"), NULL, NULL), 0);
    kc_auto(kc_object) *read =
        kc_cache_get(p->cache, &kc_kind_config_map, KC_KEY("default", "one"), NULL);
    assert_non_null(read);
    assert_true(kc_object_being_deleted(read));
    plane_free(p);
}

static void object_that_leaves_the_selector_by_own_write_is_not_read(void **state)
{
    (void)state;
    const kc_cache_kind_opts kinds[] = {{.kind = &kc_kind_config_map, .labels = "app=web"}};
    plane *p = plane_started(&(kc_cache_opts){.kinds = kinds, .n_kinds = 1});
    create(p->client, "default", "one", "'app':'web'", "v");
    assert_int_equal(count(p, NULL), 1);
    faulty_freeze(p->faults, true);
    kc_auto(kc_object) *changed = config_map("default", "one", "'app':'db'", "v");
    kc_auto(kc_object) *now = kc_client_update(p->cached, changed, NULL, NULL);
    assert_non_null(now);
    assert_false(has(p, "default", "one"));
    assert_int_equal(count(p, NULL), 0);
    create(p->cached, "default", "two", "'app':'db'", "v");
    assert_int_equal(count(p, NULL), 0);
    plane_free(p);
}

static void informer_started_after_a_write_lists_nothing_older(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    const uint64_t revision = create(p->cached, "default", "one", "", "v");
    assert_true(has(p, "default", "one"));
    kc_autofree char *target = faulty_target(p->faults, "GET /api/v1/configmaps", 0, NULL);
    kc_autofree char *part = kc_asprintf("resourceVersion=%llu", (unsigned long long)revision);
    assert_contains(target, part);
    plane_free(p);
}

static void metadata_read_uses_the_cache_of_objects(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    create(p->client, "default", "one", "", "v");
    kc_auto(kc_object) *read =
        kc_client_get(p->cached, &kc_kind_config_map, KC_KEY("default", "one"),
                      &(kc_get_opts){.metadata_only = true}, NULL);
    assert_non_null(read);
    kc_auto(kc_view) *view = kc_view_of(read);
    assert_null(kc_value_get(kc_view_root(view), "data"));
    assert_int_equal(count(p, &(kc_list_opts){.metadata_only = true}), 1);
    assert_null(faulty_target(p->faults, "GET /api/v1/configmaps", 2, NULL));
    plane_free(p);
}

static void many_kinds_share_a_few_threads(void **state)
{
    (void)state;
    static const kc_kind *const kinds[] = {&kc_kind_config_map, &kc_kind_secret, &kc_kind_pod,
                                           &kc_kind_node,       &kc_kind_event,  &kc_kind_service,
                                           &kc_kind_namespace,  &kc_kind_lease};
    kc_informer *informers[KC_COUNT(kinds)];
    plane *p = plane_started(NULL);
    for (size_t i = 0; i < KC_COUNT(kinds); i++)
        informers[i] = kc_cache_informer(p->cache, kinds[i], NULL);
    assert_true(kc_cache_wait_synced(p->cache, KC_FOREVER, NULL));
    assert_in_range(kc__executor_threads(kc__cache_executor(p->cache)), 1, 4);
    for (size_t i = 0; i < KC_COUNT(kinds); i++)
        kc_informer_release(informers[i]);
    plane_free(p);
}

TESTS(many_kinds_share_a_few_threads, read_starts_informer_and_waits_for_its_list,
      read_before_start_fails, read_after_stop_returns_cached_objects,
      read_without_informer_fails_with_fail_on_missing, read_times_out_when_first_list_fails,
      list_selects_by_namespace_labels_fields_and_limit, indexes_find_by_function_and_by_path,
      only_configured_namespaces_are_cached, label_selector_limits_cached_objects,
      transform_changes_cached_objects, metadata_only_kind_caches_metadata,
      created_object_is_read_while_watch_lags, write_of_another_client_is_read_after_its_event,
      updated_object_is_found_by_its_new_index, deleted_object_is_not_read_while_watch_lags,
      deleted_object_with_finalizer_is_read_as_terminating,
      object_that_leaves_the_selector_by_own_write_is_not_read,
      informer_started_after_a_write_lists_nothing_older, metadata_read_uses_the_cache_of_objects)
