/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

static const char *data_of(const kc_object *object)
{
    static char text[64];
    kc_auto(kc_view) *view = kc_view_of(object);
    snprintf(
        text, sizeof(text), "%s",
        kc_value_as_cstr(kc_value_get(kc_value_get(kc_view_root(view), "data"), "k"), "(none)"));
    return text;
}

/* The same object with another value. */
static kc_object *with_data(const kc_object *object, const char *value)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *data = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("data"));
    kc_node_set(edit, data, KC_STR("k"), kc_node_str(edit, kc_cstr(value)));
    return kc_edit_freeze(edit, NULL);
}

/* ---- creating ---- */

static void create_returns_the_stored_object(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *now = created(b, "a");
    assert_true(kc_object_uid(now).n > 0);
    assert_true(kc_object_revision(now) > 0);
    assert_contains(bench_sent(b, 0),
                    "POST /api/v1/namespaces/default/configmaps?fieldManager=tests "
                    "application/json {");
}

static void create_of_existing_object_returns_already_exists(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *now = created(b, "a");
    kc_auto(kc_object) *again = config_map("a", "x");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(b->client, again, NULL, &err));
    assert_true(kc_is_already_exists(&err));
    assert_string_equal(kc_error_text(&err), "configmaps \"a\" already exists");
}

static void generate_name_lets_the_server_choose_the_name(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object =
        object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generateName':'a-'}}");
    kc_auto(kc_client) *in = kc_client_with(b->client, &(kc_client_overrides){.ns = "default"});
    kc_auto(kc_object) *now = kc_client_create(in, object, NULL, NULL);
    assert_non_null(now);
    assert_true(kc_str_starts(kc_object_name(now), KC_STR("a-")));
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(b->client, object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "an empty namespace may not be set during creation");
}

static void kind_of_the_options_is_set_in_the_object(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = object_of("{'metadata':{'name':'a','namespace':'default'}}");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(b->client, object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "has no apiVersion or no kind");
    kc_auto(kc_object) *now =
        kc_client_create(b->client, object, &(kc_write_opts){.kind = &kc_kind_config_map}, NULL);
    assert_non_null(now);
    assert_contains(bench_sent(b, 0), "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\"");
}

static void invalid_object_returns_its_causes(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'A_','namespace':'default'},"
        "'data':{'no good':'x'}}");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(b->client, object, NULL, &err));
    assert_true(kc_is_invalid(&err));
    assert_int_equal(err.code, 422);
    assert_int_equal(err.causes.n, 2);
    assert_string_equal(err.causes.items[0].field, "metadata.name");
    assert_string_equal(err.causes.items[0].reason, "FieldValueInvalid");
    assert_string_equal(err.kind, "ConfigMap");
}

static void strict_field_validation_refuses_unknown_fields(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object =
        object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name'"
                  ":'a','namespace':'default'},'dada':{}}");
    kc_scoped(kc_error) err = {0};
    assert_null(
        kc_client_create(b->client, object, &(kc_write_opts){.field_validation = "Strict"}, &err));
    assert_error(&err, KC_BAD_REQUEST, "unknown field \"dada\"");
}

/* ---- updating ---- */

static void update_of_stale_version_returns_conflict(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *old = created(b, "a");
    kc_auto(kc_object) *first = with_data(old, "1");
    kc_auto(kc_object) *second = with_data(old, "2");
    kc_auto(kc_object) *now = kc_client_update(b->client, first, NULL, NULL);
    assert_string_equal(data_of(now), "1");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_update(b->client, second, NULL, &err));
    assert_true(kc_is_conflict(&err));
    assert_int_equal(bench_count(b), 3);
}

static void update_status_uses_the_subresource(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *ns =
        kc_client_get(b->client, &kc_kind_namespace, KC_KEY("", "default"), NULL, NULL);
    kc_auto(kc_object) *now = kc_client_update_status(b->client, ns, NULL);
    assert_non_null(now);
    assert_contains(bench_sent(b, 1), "PUT /api/v1/namespaces/default/status?fieldManager=tests ");
}

/* ---- patches ---- */

static void patch_types_have_their_media_types(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *a = created(b, "a");
    bench_forget(b);
    kc_auto(kc_object) *merged =
        kc_client_patch(b->client, &kc_kind_config_map, KEY("a"), KC_PATCH_MERGE,
                        KC_STR("{\"data\":{\"k\":\"m\"}}"), NULL, NULL);
    assert_string_equal(data_of(merged), "m");
    kc_auto(kc_object) *edited = kc_client_patch(
        b->client, &kc_kind_config_map, KEY("a"), KC_PATCH_JSON,
        KC_STR("[{\"op\":\"replace\",\"path\":\"/data/k\",\"value\":\"j\"}]"), NULL, NULL);
    assert_string_equal(data_of(edited), "j");
    kc_auto(kc_object) *strategic =
        kc_client_patch(b->client, &kc_kind_config_map, KEY("a"), KC_PATCH_STRATEGIC,
                        KC_STR("{\"data\":{\"k\":\"s\"}}"), NULL, NULL);
    assert_string_equal(data_of(strategic), "s");
    kc_auto(kc_object) *applied =
        kc_client_patch(b->client, &kc_kind_config_map, KEY("a"), KC_PATCH_APPLY,
                        KC_STR("{data: {k: a}}"), &(kc_write_opts){.force = true}, NULL);
    (void)applied;
    static const char *const types[] = {
        "?fieldManager=tests application/merge-patch+json ",
        "?fieldManager=tests application/json-patch+json ",
        "?fieldManager=tests application/strategic-merge-patch+json ",
        "?fieldManager=tests&force=true application/apply-patch+yaml {data: {k: a}}",
    };
    for (size_t i = 0; i < KC_COUNT(types); i++)
        assert_contains(bench_sent(b, i), types[i]);
}

static void patch_from_sends_the_difference(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *from = created(b, "a");
    kc_auto(kc_object) *to = with_data(from, "new");
    kc_auto(kc_object) *now = kc_client_patch_from(b->client, from, to, false, NULL, NULL);
    assert_string_equal(data_of(now), "new");
    assert_contains(bench_sent(b, 1), "merge-patch+json {\"data\":{\"k\":\"new\"}}");
}

static void patch_from_without_difference_is_not_sent(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *from = created(b, "a");
    kc_auto(kc_object) *same = kc_client_patch_from(b->client, from, from, true, NULL, NULL);
    assert_ptr_equal(same, from);
    assert_int_equal(bench_count(b), 1);
}

static void locked_patch_of_stale_version_returns_conflict(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *old = created(b, "a");
    kc_auto(kc_object) *one = with_data(old, "1");
    kc_auto(kc_object) *two = with_data(old, "2");
    kc_auto(kc_object) *now = kc_client_patch_from(b->client, old, one, true, NULL, NULL);
    assert_non_null(now);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_patch_from(b->client, old, two, true, NULL, &err));
    assert_true(kc_is_conflict(&err));
    kc_auto(kc_object) *unlocked = kc_client_patch_from(b->client, old, two, false, NULL, NULL);
    assert_string_equal(data_of(unlocked), "2");
}

static void patch_from_to_another_name_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *from = created(b, "a");
    kc_auto(kc_object) *to = config_map("b", "v");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_patch_from(b->client, from, to, false, NULL, &err));
    assert_true(kc_is_invalid(&err));
    assert_int_equal(bench_count(b), 1);
}

static void apply_sends_object_with_field_manager(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    bench_script(b, &(scripted){.status = 200, .body = "{'kind':'ConfigMap','apiVersion':'v1'}"});
    kc_auto(kc_object) *now = kc_client_apply(
        b->client, object, &(kc_write_opts){.field_manager = "robots", .force = true}, NULL);
    assert_non_null(now);
    assert_contains(bench_sent(b, 0), "PATCH /api/v1/namespaces/default/configmaps/a?fieldManager="
                                      "robots&force=true application/apply-patch+yaml {");
}

/* ---- common options of writes ---- */

static void dry_run_changes_nothing(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_object) *one =
        kc_client_create(b->client, object, &(kc_write_opts){.dry_run = true}, NULL);
    assert_non_null(one);
    kc_auto(kc_client) *dry = kc_client_with(b->client, &(kc_client_overrides){.dry_run = true});
    kc_auto(kc_object) *two = kc_client_create(dry, object, NULL, NULL);
    assert_non_null(two);
    assert_null(got(b, "a"));
    kc_auto(kc_object) *real = kc_client_create(b->client, object, NULL, NULL);
    assert_int_equal(kc_client_delete(dry, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    kc_auto(kc_object) *still = got(b, "a");
    assert_non_null(still);
}

static void field_manager_of_options_takes_precedence(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_client) *bound =
        kc_client_with(b->client, &(kc_client_overrides){.field_manager = "h"});
    const kc_write_opts own = {.field_manager = "own", .dry_run = true}, none = {.dry_run = true};
    kc_object_unref(kc_client_create(b->client, object, &none, NULL));
    kc_object_unref(kc_client_create(bound, object, &none, NULL));
    kc_object_unref(kc_client_create(bound, object, &own, NULL));
    assert_contains(bench_sent(b, 0), "?fieldManager=tests&");
    assert_contains(bench_sent(b, 1), "?fieldManager=h&");
    assert_contains(bench_sent(b, 2), "?fieldManager=own&");
}

static void subresource_accepts_body_of_another_kind(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    bench_script(b, &(scripted){.status = 201, .body = "{'kind':'Status','status':'Success'}"});
    kc_auto(kc_object) *binding = object_of(
        "{'apiVersion':'v1','kind':'Binding','metadata':{'name':'p','namespace':'default'},"
        "'target':{'kind':'Node','name':'n'}}");
    kc_auto(kc_object) *answer = kc_client_create(
        b->client, binding, &(kc_write_opts){.kind = &kc_kind_pod, .subresource = "binding"}, NULL);
    assert_str(kc_object_kind(answer), "Status");
    assert_contains(bench_sent(b, 0), "POST /api/v1/namespaces/default/pods/p/binding?");
}

/* ---- fences ---- */

typedef struct gate {
    kc_fence base;
    int checks;
    bool closed;
    int64_t until;
} gate;

static int gate_check(kc_fence *fence, int64_t *ret_deadline, kc_error *err)
{
    gate *g = kc_container_of(fence, gate, base);
    g->checks++;
    *ret_deadline = g->until ? g->until : KC_FOREVER;
    return g->closed ? kc_error_set(err, KC_FORBIDDEN, "we do not lead") : 0;
}

static void writes_check_the_fence(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    gate g = {.base.check = gate_check, .closed = true};
    kc_auto(kc_client) *fenced =
        kc_client_with(b->client, &(kc_client_overrides){.fence = &g.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(fenced, object, NULL, &err));
    assert_error(&err, KC_FORBIDDEN, "we do not lead");
    assert_true(kc_client_delete(fenced, &kc_kind_config_map, KEY("a"), NULL, NULL) < 0);
    assert_true(kc_client_delete_all(fenced, &kc_kind_config_map, NULL, NULL, NULL) < 0);
    assert_null(kc_client_patch(fenced, &kc_kind_config_map, KEY("a"), KC_PATCH_MERGE, KC_STR("{}"),
                                NULL, NULL));
    assert_int_equal(g.checks, 4);
    assert_int_equal(bench_count(b), 0);
    /* Reads, dry runs and unfenced writes do not check it. */
    kc_object_unref(kc_client_get(fenced, &kc_kind_config_map, KEY("a"), NULL, NULL));
    kc_object_unref(kc_client_create(fenced, object, &(kc_write_opts){.dry_run = true}, NULL));
    kc_object_unref(kc_client_create(fenced, object, &(kc_write_opts){.unfenced = true}, NULL));
    assert_int_equal(g.checks, 4);
    assert_int_equal(bench_count(b), 3);
}

static void write_ends_with_the_fence_deadline(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    gate g = {.base.check = gate_check, .until = kc_clock_now(kc_clock_real()) - 1};
    kc_auto(kc_client) *fenced =
        kc_client_with(b->client, &(kc_client_overrides){.fence = &g.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(fenced, object, NULL, &err));
    assert_true(kc_is_timeout(&err));
    assert_int_equal(bench_count(b), 0);
}

/* ---- notification of readers ---- */

typedef struct notified_reader {
    kc_reader base;
    kc_buf notified;
} notified_reader;

static void notified_reader_wrote(kc_reader *reader, const kc_kind *kind, const kc_object *object,
                                  bool deleted)
{
    notified_reader *e = kc_container_of(reader, notified_reader, base);
    kc_buf_printf(&e->notified, "%s%s/%.*s/%s ", deleted ? "-" : "+", kind->kind,
                  KC_ARG(kc_object_name(object)), kc_object_uid(object).n ? "uid" : "");
}

static const kc_reader_ops notified_reader_ops = {.wrote = notified_reader_wrote};

static void reader_is_notified_of_writes(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    notified_reader e = {.base.ops = &notified_reader_ops};
    kc_auto(kc_client) *c = kc_client_with(b->client, &(kc_client_overrides){.reader = &e.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_object) *dry = kc_client_create(c, object, &(kc_write_opts){.dry_run = true}, NULL);
    kc_auto(kc_object) *now = kc_client_create(c, object, NULL, NULL);
    kc_auto(kc_object) *changed = with_data(now, "x");
    kc_auto(kc_object) *patched = kc_client_patch_from(c, now, changed, false, NULL, NULL);
    kc_auto(kc_object) *failed = kc_client_create(c, object, NULL, NULL);
    assert_null(failed);
    assert_int_equal(kc_client_delete(c, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&e.notified),
                        "+ConfigMap/a/uid +ConfigMap/a/uid -ConfigMap/a/uid ");
    kc_buf_done(&e.notified);
}

static void reader_sees_update_when_finalizers_defer_the_delete(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    notified_reader e = {.base.ops = &notified_reader_ops};
    kc_auto(kc_client) *c = kc_client_with(b->client, &(kc_client_overrides){.reader = &e.base});
    kc_auto(kc_object) *object = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default',"
        "'finalizers':['example.com/wait']}}");
    kc_object_unref(created_as(b, object));
    kc_object_unref(created(b, "b"));
    assert_int_equal(
        kc_client_delete_all(c, &kc_kind_config_map, &(kc_list_opts){.ns = "default"}, NULL, NULL),
        0);
    assert_string_equal(kc_buf_cstr(&e.notified), "-ConfigMap/b/uid ");
    assert_int_equal(kc_client_delete(c, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&e.notified), "-ConfigMap/b/uid +ConfigMap/a/uid ");
    kc_buf_done(&e.notified);
}

/* ---- deleting ---- */

static void deleted_object_is_not_found(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_unref(created(b, "a"));
    assert_int_equal(kc_client_delete(b->client, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    assert_null(got(b, "a"));
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_client_delete(b->client, &kc_kind_config_map, KEY("a"), NULL, &err),
                     -KC_NOT_FOUND);
    assert_true(kc_is_not_found(&err));
}

static void delete_with_wrong_preconditions_returns_conflict(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *a = created(b, "a");
    kc_scoped(kc_error) err = {0};
    const kc_delete_opts other = {.uid = "no-such-uid"}, stale = {.resource_version = "1"};
    assert_true(kc_client_delete(b->client, &kc_kind_config_map, KEY("a"), &other, &err) < 0);
    assert_true(kc_is_conflict(&err));
    assert_true(kc_client_delete(b->client, &kc_kind_config_map, KEY("a"), &stale, &err) < 0);
    assert_true(kc_is_conflict(&err));
    kc_autofree char *uid = kc_str_dup(kc_object_uid(a));
    kc_autofree char *version = kc_str_dup(kc_object_resource_version(a));
    const kc_delete_opts exact = {.uid = uid, .resource_version = version};
    assert_int_equal(kc_client_delete(b->client, &kc_kind_config_map, KEY("a"), &exact, NULL), 0);
}

static void delete_options_are_sent_as_body(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_client_delete(b->client, &kc_kind_config_map, KEY("a"),
                     &(kc_delete_opts){.propagation = "Foreground", .grace = 7, .dry_run = true},
                     NULL);
    assert_string_equal(bench_sent(b, 0),
                        "DELETE /api/v1/namespaces/default/configmaps/a application/json "
                        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":"
                        "\"Foreground\",\"gracePeriodSeconds\":7,\"dryRun\":[\"All\"]}");
    kc_client_delete(b->client, &kc_kind_config_map, KEY("a"),
                     &(kc_delete_opts){.immediately = true}, NULL);
    assert_contains(bench_sent(b, 1), "\"gracePeriodSeconds\":0");
}

static void delete_all_deletes_selected_objects(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_unref(created(b, "a"));
    kc_auto(kc_object) *web = object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                        "'web','namespace':'default','labels':{'app':'web'}}}");
    kc_object_unref(created_as(b, web));
    const kc_list_opts which = {.ns = "default", .labels = "app=web"};
    assert_int_equal(kc_client_delete_all(b->client, &kc_kind_config_map, &which, NULL, NULL), 0);
    assert_null(got(b, "web"));
    kc_auto(kc_object) *still = got(b, "a");
    assert_non_null(still);
}

TESTS(create_returns_the_stored_object, create_of_existing_object_returns_already_exists,
      generate_name_lets_the_server_choose_the_name, kind_of_the_options_is_set_in_the_object,
      invalid_object_returns_its_causes, strict_field_validation_refuses_unknown_fields,
      update_of_stale_version_returns_conflict, update_status_uses_the_subresource,
      patch_types_have_their_media_types, patch_from_sends_the_difference,
      patch_from_without_difference_is_not_sent, locked_patch_of_stale_version_returns_conflict,
      patch_from_to_another_name_is_refused, apply_sends_object_with_field_manager,
      dry_run_changes_nothing, field_manager_of_options_takes_precedence,
      subresource_accepts_body_of_another_kind, writes_check_the_fence,
      write_ends_with_the_fence_deadline, reader_is_notified_of_writes,
      reader_sees_update_when_finalizers_defer_the_delete, deleted_object_is_not_found,
      delete_with_wrong_preconditions_returns_conflict, delete_options_are_sent_as_body,
      delete_all_deletes_selected_objects)
