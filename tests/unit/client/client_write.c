/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

static const char *data_of(const kc_object *object)
{
    static char text[64];
    kc_auto(kc_view) *view = kc_view_of(object);
    snprintf(text, sizeof(text), "%s",
             kc_as_cstr(kc_get(kc_get(kc_view_root(view), "data"), "k"), "(none)"));
    return text;
}

/* The same object with another value. */
static kc_object *with_data(const kc_object *object, const char *value)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *data = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("data"));
    kc_node_set(edit, data, KC_STR("k"), kc_node_str(edit, kc_cstr(value)));
    return kc_edit_freeze(edit, NULL);
}

/* ---- creating ---- */

static void what_is_created_comes_back_as_it_is_kept(void **state)
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

static void what_is_there_cannot_be_created(void **state)
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

static void a_name_may_be_the_servers_choice(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object =
        object_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generateName':'a-'}}");
    kc_auto(kc_client) *in = kc_client_with(b->client, &(kc_client_bind){.ns = "default"});
    kc_auto(kc_object) *now = kc_client_create(in, object, NULL, NULL);
    assert_non_null(now);
    assert_true(kc_str_starts(kc_object_name(now), KC_STR("a-")));
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(b->client, object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "an empty namespace may not be set during creation");
}

static void a_kind_in_the_options_is_put_into_the_object(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = object_of("{'metadata':{'name':'a','namespace':'default'}}");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(b->client, object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "does not say its apiVersion and kind");
    kc_auto(kc_object) *now =
        kc_client_create(b->client, object, &(kc_write_opts){.kind = &kc_kind_config_map}, NULL);
    assert_non_null(now);
    assert_contains(bench_sent(b, 0), "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\"");
}

static void invalid_objects_tell_their_causes(void **state)
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

static void unknown_fields_are_refused_if_that_is_asked_for(void **state)
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

static void an_update_of_an_old_version_conflicts(void **state)
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

static void status_is_written_apart(void **state)
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

static void patches_are_of_four_types(void **state)
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

static void the_patch_between_two_objects_has_what_differs(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *from = created(b, "a");
    kc_auto(kc_object) *to = with_data(from, "new");
    kc_auto(kc_object) *now = kc_client_patch_from(b->client, from, to, false, NULL, NULL);
    assert_string_equal(data_of(now), "new");
    assert_contains(bench_sent(b, 1), "merge-patch+json {\"data\":{\"k\":\"new\"}}");
}

static void a_patch_of_nothing_is_not_sent(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *from = created(b, "a");
    kc_auto(kc_object) *same = kc_client_patch_from(b->client, from, from, true, NULL, NULL);
    assert_ptr_equal(same, from);
    assert_int_equal(bench_count(b), 1);
}

static void a_locked_patch_conflicts_with_a_newer_version(void **state)
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

static void a_patch_cannot_make_another_object(void **state)
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

static void applying_sends_the_object_with_its_owner(void **state)
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

/* ---- what all writes have ---- */

static void a_dry_run_changes_nothing(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_object) *one =
        kc_client_create(b->client, object, &(kc_write_opts){.dry_run = true}, NULL);
    assert_non_null(one);
    kc_auto(kc_client) *dry = kc_client_with(b->client, &(kc_client_bind){.dry_run = true});
    kc_auto(kc_object) *two = kc_client_create(dry, object, NULL, NULL);
    assert_non_null(two);
    assert_null(got(b, "a"));
    kc_auto(kc_object) *real = kc_client_create(b->client, object, NULL, NULL);
    assert_int_equal(kc_client_delete(dry, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    kc_auto(kc_object) *still = got(b, "a");
    assert_non_null(still);
}

static void field_managers_are_the_most_special(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_client) *bound = kc_client_with(b->client, &(kc_client_bind){.field_manager = "h"});
    const kc_write_opts own = {.field_manager = "own", .dry_run = true}, none = {.dry_run = true};
    kc_object_unref(kc_client_create(b->client, object, &none, NULL));
    kc_object_unref(kc_client_create(bound, object, &none, NULL));
    kc_object_unref(kc_client_create(bound, object, &own, NULL));
    assert_contains(bench_sent(b, 0), "?fieldManager=tests&");
    assert_contains(bench_sent(b, 1), "?fieldManager=h&");
    assert_contains(bench_sent(b, 2), "?fieldManager=own&");
}

static void subresources_may_have_bodies_of_other_kinds(void **state)
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
    int asked;
    bool closed;
    int64_t until;
} gate;

static int gate_check(kc_fence *fence, int64_t *ret_deadline, kc_error *err)
{
    gate *g = kc_container_of(fence, gate, base);
    g->asked++;
    *ret_deadline = g->until ? g->until : KC_FOREVER;
    return g->closed ? kc_error_set(err, KC_FORBIDDEN, "we do not lead") : 0;
}

static void writes_ask_the_fence(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    gate g = {.base.check = gate_check, .closed = true};
    kc_auto(kc_client) *fenced = kc_client_with(b->client, &(kc_client_bind){.fence = &g.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(fenced, object, NULL, &err));
    assert_error(&err, KC_FORBIDDEN, "we do not lead");
    assert_true(kc_client_delete(fenced, &kc_kind_config_map, KEY("a"), NULL, NULL) < 0);
    assert_true(kc_client_delete_all(fenced, &kc_kind_config_map, NULL, NULL, NULL) < 0);
    assert_null(kc_client_patch(fenced, &kc_kind_config_map, KEY("a"), KC_PATCH_MERGE, KC_STR("{}"),
                                NULL, NULL));
    assert_int_equal(g.asked, 4);
    assert_int_equal(bench_count(b), 0);
    /* Reads, dry runs, and what may be written by anybody, do not. */
    kc_object_unref(kc_client_get(fenced, &kc_kind_config_map, KEY("a"), NULL, NULL));
    kc_object_unref(kc_client_create(fenced, object, &(kc_write_opts){.dry_run = true}, NULL));
    kc_object_unref(kc_client_create(fenced, object, &(kc_write_opts){.unfenced = true}, NULL));
    assert_int_equal(g.asked, 4);
    assert_int_equal(bench_count(b), 3);
}

static void a_write_ends_with_the_term(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    gate g = {.base.check = gate_check, .until = kc_clock_now(kc_clock_real()) - 1};
    kc_auto(kc_client) *fenced = kc_client_with(b->client, &(kc_client_bind){.fence = &g.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_create(fenced, object, NULL, &err));
    assert_true(kc_is_timeout(&err));
    assert_int_equal(bench_count(b), 0);
}

/* ---- readers hear of writes ---- */

typedef struct ear {
    kc_reader base;
    kc_buf heard;
} ear;

static void ear_wrote(kc_reader *reader, const kc_kind *kind, const kc_object *object, bool deleted)
{
    ear *e = kc_container_of(reader, ear, base);
    kc_buf_printf(&e->heard, "%s%s/%.*s/%s ", deleted ? "-" : "+", kind->kind,
                  KC_ARG(kc_object_name(object)), kc_object_uid(object).n ? "uid" : "");
}

static const kc_reader_ops ear_ops = {.wrote = ear_wrote};

static void a_reader_hears_what_was_written(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    ear e = {.base.ops = &ear_ops};
    kc_auto(kc_client) *c = kc_client_with(b->client, &(kc_client_bind){.reader = &e.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_auto(kc_object) *dry = kc_client_create(c, object, &(kc_write_opts){.dry_run = true}, NULL);
    kc_auto(kc_object) *now = kc_client_create(c, object, NULL, NULL);
    kc_auto(kc_object) *changed = with_data(now, "x");
    kc_auto(kc_object) *patched = kc_client_patch_from(c, now, changed, false, NULL, NULL);
    kc_auto(kc_object) *failed = kc_client_create(c, object, NULL, NULL);
    assert_null(failed);
    assert_int_equal(kc_client_delete(c, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&e.heard),
                        "+ConfigMap/a/uid +ConfigMap/a/uid -ConfigMap/a/uid ");
    kc_buf_done(&e.heard);
}

static void what_finalizers_keep_is_not_deleted_yet(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    ear e = {.base.ops = &ear_ops};
    kc_auto(kc_client) *c = kc_client_with(b->client, &(kc_client_bind){.reader = &e.base});
    kc_auto(kc_object) *object = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default',"
        "'finalizers':['example.com/wait']}}");
    kc_object_unref(created_as(b, object));
    kc_object_unref(created(b, "b"));
    assert_int_equal(
        kc_client_delete_all(c, &kc_kind_config_map, &(kc_list_opts){.ns = "default"}, NULL, NULL),
        0);
    assert_string_equal(kc_buf_cstr(&e.heard), "-ConfigMap/b/uid ");
    assert_int_equal(kc_client_delete(c, &kc_kind_config_map, KEY("a"), NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&e.heard), "-ConfigMap/b/uid +ConfigMap/a/uid ");
    kc_buf_done(&e.heard);
}

/* ---- deleting ---- */

static void what_is_deleted_is_gone(void **state)
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

static void a_deletion_may_have_conditions(void **state)
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

static void options_of_a_deletion_are_its_body(void **state)
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
    kc_client_delete(b->client, &kc_kind_config_map, KEY("a"), &(kc_delete_opts){.now = true},
                     NULL);
    assert_contains(bench_sent(b, 1), "\"gracePeriodSeconds\":0");
}

static void selectors_say_what_is_deleted(void **state)
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

TESTS(what_is_created_comes_back_as_it_is_kept, what_is_there_cannot_be_created,
      a_name_may_be_the_servers_choice, a_kind_in_the_options_is_put_into_the_object,
      invalid_objects_tell_their_causes, unknown_fields_are_refused_if_that_is_asked_for,
      an_update_of_an_old_version_conflicts, status_is_written_apart, patches_are_of_four_types,
      the_patch_between_two_objects_has_what_differs, a_patch_of_nothing_is_not_sent,
      a_locked_patch_conflicts_with_a_newer_version, a_patch_cannot_make_another_object,
      applying_sends_the_object_with_its_owner, a_dry_run_changes_nothing,
      field_managers_are_the_most_special, subresources_may_have_bodies_of_other_kinds,
      writes_ask_the_fence, a_write_ends_with_the_term, a_reader_hears_what_was_written,
      what_finalizers_keep_is_not_deleted_yet, what_is_deleted_is_gone,
      a_deletion_may_have_conditions, options_of_a_deletion_are_its_body,
      selectors_say_what_is_deleted)
