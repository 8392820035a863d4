/* SPDX-License-Identifier: Apache-2.0 */
/* Applying YAML to the real server: the result for each object, the order, and errors. */
#include "kc/apply.h"
#include "faulty.h"
#include "testing.h"

#include "kc/kinds.h"
#include "kc/testenv.h"

#include <stdio.h>
#include <unistd.h>

#define MAP(name, value) \
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name "}\ndata: {k: " value "}\n"
#define DEFINITION(plural, kind)                                                                    \
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " plural \
    ".apply.test}\nspec:\n  group: apply.test\n  scope: Namespaced\n  names: {kind: " kind          \
    ", plural: " plural "}\n  versions:\n  - {name: v1, served: true, storage: true, "              \
    "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n"
#define WIDGET(name) "apiVersion: apply.test/v1\nkind: Widget\nmetadata: {name: " name "}\n"

typedef struct plane {
    kc_embedded_server *server;
    faulty *faults;
    kc_client *client;
    kc_buf results; /* "created Kind ns/name (source 1)\n" for each. */
} plane;

static void record_result(const kc_apply_report *r, void *user)
{
    plane *p = user;
    kc_buf_printf(&p->results, "%s %s ", kc_apply_result_text(r->what), r->kind->kind);
    kc_key_write(&p->results, r->key);
    if (r->source)
        kc_buf_printf(&p->results, " (%s %zu)", strrchr(r->source, '/') + 1, r->document);
    kc_buf_putc(&p->results, '\n');
}

static plane *plane_start(void)
{
    plane *p = kc_new(plane);
    p->server = kc_embedded_server_start(NULL, NULL);
    assert_non_null(p->server);
    p->faults = faulty_new(kc_embedded_server_transport(p->server, NULL), kc_clock_real());
    p->client = kc_client_new(&(kc_client_opts){.transport = faulty_transport(p->faults)}, NULL);
    assert_non_null(p->client);
    return p;
}

static plane *plane_stop(plane *p)
{
    kc_client_unref(p->client);
    kc_embedded_server_stop(p->server);
    kc_buf_done(&p->results);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(plane, plane_stop)

/* Applies, and returns the reported result. */
static const char *applied_with(plane *p, const char *text, kc_apply_opts opts)
{
    kc_scoped(kc_error) err = {0};
    opts.report = record_result;
    opts.user = p;
    kc_buf_clear(&p->results);
    if (kc_apply_text(p->client, kc_cstr(text), &opts, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(err.reason, KC_OK);
    return kc_buf_cstr(&p->results);
}

static const char *applied(plane *p, const char *text)
{
    return applied_with(p, text, (kc_apply_opts){0});
}

static void assert_refused(plane *p, const char *text, kc_reason reason, const char *message)
{
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, kc_cstr(text), NULL, &err) < 0);
    assert_string_equal(kc_error_text(&err), message);
    assert_int_equal(err.reason, reason);
}

static void assert_value(plane *p, const char *name, const char *value)
{
    kc_auto(kc_object) *map =
        kc_client_get(p->client, &kc_kind_config_map, KC_KEY("default", name), NULL, NULL);
    assert_non_null(map);
    kc_auto(kc_view) *view = kc_view_of(map);
    assert_string_equal(kc_value_as_cstr(kc_value_nested(kc_view_root(view), "data.k"), ""), value);
}

/* ---- one object ---- */

static void missing_object_is_created(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(applied(p, MAP("a", "one")), "created ConfigMap default/a\n");
    assert_value(p, "a", "one");
}

static void existing_object_is_configured(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, MAP("a", "one"));
    assert_string_equal(applied(p, MAP("a", "one")), "unchanged ConfigMap default/a\n");
    assert_string_equal(applied(p, MAP("a", "two")), "configured ConfigMap default/a\n");
    assert_value(p, "a", "two");
    applied(p, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {other: x}}");
    assert_value(p, "a", "two");
}

static void server_set_fields_are_no_change(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    const char *text =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: null}}";
    assert_string_equal(applied(p, text), "created ConfigMap default/a\n");
    assert_string_equal(applied(p, text), "unchanged ConfigMap default/a\n");
}

static void keep_mode_leaves_existing_objects(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, MAP("a", "one"));
    assert_string_equal(applied_with(p, MAP("a", "two") "---\n" MAP("b", "two"),
                                     (kc_apply_opts){.how = KC_APPLY_KEEP}),
                        "kept ConfigMap default/a\ncreated ConfigMap default/b\n");
    assert_value(p, "a", "one");
}

/* What is in the way of an object that others have written stays out of it. */
static void last_applied_annotation_is_written_on_request(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    const kc_apply_opts noted = {.last_applied = true};
    applied_with(p, MAP("a", "one"), noted);
    assert_string_equal(applied_with(p, MAP("a", "one"), noted), "unchanged ConfigMap default/a\n");
    applied(p, MAP("b", "one"));
    assert_string_equal(applied_with(p, MAP("b", "one"), noted), "unchanged ConfigMap default/b\n");
    assert_string_equal(applied_with(p, MAP("b", "two"), noted),
                        "configured ConfigMap default/b\n");
    for (const char *name = "ab"; *name; name++) {
        kc_auto(kc_object) *map =
            kc_client_get(p->client, &kc_kind_config_map,
                          (kc_key){KC_STR("default"), kc_str_of(name, 1)}, NULL, NULL);
        assert_non_null(strstr(kc_object_json(map).p,
                               "last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"v1\\\""));
    }
}

static void namespace_of_object_or_option_is_used(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(
        applied_with(p,
                     MAP("a", "one") "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b, "
                                     "namespace: default}}\n---\n"
                                     "{apiVersion: v1, kind: Namespace, metadata: {name: far}}",
                     (kc_apply_opts){.ns = "far"}),
        "created Namespace far\ncreated ConfigMap far/a\ncreated ConfigMap default/b\n");
}

static kc_apply_mode not_b(const kc_object *object, void *user)
{
    (void)user;
    return kc_str_is(kc_object_name(object), "a")   ? KC_APPLY_KEEP
           : kc_str_is(kc_object_name(object), "b") ? KC_APPLY_SKIP
                                                    : KC_APPLY_MERGE;
}

static void choose_function_decides_per_object(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, MAP("a", "x") "---\n" MAP("c", "x"));
    assert_string_equal(applied_with(p, MAP("a", "z") "---\n" MAP("b", "z") "---\n" MAP("c", "z"),
                                     (kc_apply_opts){.choose = not_b}),
                        "kept ConfigMap default/a\nconfigured ConfigMap default/c\n");
}

/* ---- several ---- */

static void lists_are_split_into_their_items(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(
        applied(p, "apiVersion: v1\nkind: List\nitems:\n"
                   "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
                   "- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: "
                   "ConfigMap, metadata: {name: b}}]}\n"
                   "---\napiVersion: v1\nkind: List\nitems: []\n"),
        "created ConfigMap default/a\ncreated ConfigMap default/b\n");
}

static void json_is_applied(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(applied(p, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                   "{\"name\":\"a\"}}"),
                        "created ConfigMap default/a\n");
}

static void empty_text_applies_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(applied(p, ""), "");
    assert_string_equal(applied(p, "# only\n---\n---\n"), "");
}

static void crds_and_namespaces_are_applied_first(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(
        applied(p,
                "{apiVersion: apply.test/v1, kind: Widget, metadata: {name: w, namespace: far}}"
                "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: far}}\n---\n" DEFINITION(
                    "widgets", "Widget")),
        "created CustomResourceDefinition widgets.apply.test\ncreated Namespace far\n"
        "created Widget far/w\n");
}

static void kind_is_found_after_its_crd_is_applied(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_refused(p, WIDGET("w"), KC_NOT_FOUND,
                   "line 1: Widget w: no matches for kind \"Widget\" in version "
                   "\"apply.test/v1\"");
    applied(p, DEFINITION("gadgets", "Gadget"));
    applied(p, DEFINITION("widgets", "Widget"));
    const size_t before = faulty_count(p->faults, "GET /apis/apply.test/v1");
    assert_string_equal(applied(p, WIDGET("w")), "created Widget default/w\n");
    /* The client does not poll discovery until the kind exists. */
    assert_true(faulty_count(p->faults, "GET /apis/apply.test/v1") <= before + 3);
}

static void crds_are_served_when_apply_returns(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 30; i++)
        kc_buf_printf(
            &text,
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
            "metadata: {name: k%ds.g%d.test}\nspec:\n  group: g%d.test\n  scope: Cluster\n"
            "  names: {kind: K%d, plural: k%ds}\n  versions:\n  - {name: v1, served: true, "
            "storage: true, schema: {openAPIV3Schema: {type: object}}}\n",
            i, i % 4, i % 4, i, i);
    applied(p, kc_buf_cstr(&text));
    for (int i = 0; i < 30; i++) {
        kc_autofree char *group = kc_asprintf("g%d.test", i % 4), *kind = kc_asprintf("K%d", i);
        assert_non_null(
            kc_client_kind(p->client, (kc_gvk){kc_cstr(group), KC_STR("v1"), kc_cstr(kind)}, NULL));
    }
}

static void apply_waits_on_the_clock_of_the_client(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 3}, NULL);
    kc_scoped(kc_error) err = {0};
    if (kc_apply_text(kc_testenv_client(env),
                      kc_cstr(WIDGET("w") "---\n" DEFINITION("widgets", "Widget")), NULL, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

#define STATUS(code, reason)                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"" reason \
    "\",\"code\":" #code "}"

/* Defines Widget by a client without faults, and waits until the server serves it. */
static void define_widgets(plane *p)
{
    kc_auto(kc_client) *other = kc_embedded_server_client(p->server, NULL);
    assert_int_equal(kc_apply_text(other, KC_STR(DEFINITION("widgets", "Widget")), NULL, NULL), 0);
}

static void kind_missing_in_discovery_is_waited_for(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    define_widgets(p);
    faulty_respond(p->faults, "GET /apis/apply.test/v1", 3, 404, STATUS(404, "NotFound"));
    assert_string_equal(applied(p, DEFINITION("widgets", "Widget") "---\n" WIDGET("w")),
                        "unchanged CustomResourceDefinition widgets.apply.test\n"
                        "created Widget default/w\n");
    assert_int_equal(faulty_count(p->faults, "GET /apis/apply.test/v1"), 5);
}

static void kind_with_existing_crd_is_waited_for(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    define_widgets(p);
    faulty_respond(p->faults, "GET /apis/apply.test/v1", 3, 404, STATUS(404, "NotFound"));
    assert_string_equal(applied(p, WIDGET("w")), "created Widget default/w\n");
}

static void wait_for_kind_ends_at_timeout(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    define_widgets(p); /* Established already: the timeout limits the wait for discovery only. */
    faulty_respond(p->faults, "GET /apis/apply.test/v1", -1, 404, STATUS(404, "NotFound"));
    assert_true(kc_apply_text(p->client, KC_STR(DEFINITION("widgets", "Widget")),
                              &(kc_apply_opts){.timeout = 20 * KC_MILLISECOND}, &err) < 0);
    assert_int_equal(err.reason, KC_TIMEOUT);
    assert_string_equal(kc_error_text(&err),
                        "CRD widgets.apply.test: not served yet: no "
                        "matches for kind \"Widget\" in version \"apply.test/v1\"");
}

static void concurrent_create_or_delete_is_retried(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    faulty_respond(p->faults, "POST /api/v1/namespaces/default/configmaps", 1, 409,
                   STATUS(409, "AlreadyExists"));
    assert_string_equal(applied(p, MAP("a", "one")), "created ConfigMap default/a\n");
    faulty_respond(p->faults, "PATCH /api/v1/namespaces/default/configmaps", 1, 404,
                   STATUS(404, "NotFound"));
    assert_string_equal(applied(p, MAP("a", "two")), "configured ConfigMap default/a\n");
    faulty_respond(p->faults, "PATCH /api/v1/namespaces/default/configmaps", -1, 404,
                   STATUS(404, "NotFound"));
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, KC_STR(MAP("a", "three")), NULL, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
}

static void unchanged_objects_send_no_writes(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, DEFINITION("widgets", "Widget") "---\n" MAP("a", "one"));
    const size_t before = faulty_count(p->faults, "PATCH ") + faulty_count(p->faults, "POST ");
    assert_string_equal(applied(p, DEFINITION("widgets", "Widget") "---\n" MAP("a", "one")),
                        "unchanged CustomResourceDefinition widgets.apply.test\n"
                        "unchanged ConfigMap default/a\n");
    assert_int_equal(faulty_count(p->faults, "PATCH ") + faulty_count(p->faults, "POST "), before);
}

/* ---- errors ---- */

static void text_beyond_limits_is_refused_before_any_request(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    memset(kc_buf_reserve(&text, KC_APPLY_MAX_TEXT + 1), ' ', KC_APPLY_MAX_TEXT + 1);
    text.n = KC_APPLY_MAX_TEXT + 1;
    assert_true(kc_apply_text(p->client, kc_buf_str(&text), NULL, &err) < 0);
    assert_int_equal(err.reason, KC_TOO_LARGE);
    kc_buf_clear(&text);
    kc_buf_puts(&text, "{\"items\":[");
    for (unsigned i = 0; i <= KC_APPLY_MAX_OBJECTS; i++)
        kc_buf_puts(&text,
                    &",{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}}"[!i]);
    kc_buf_puts(&text, "]}");
    assert_true(kc_apply_text(p->client, kc_buf_str(&text), NULL, &err) < 0);
    assert_string_equal(kc_error_text(&err), "line 1: more than 100000 objects");
    assert_int_equal(faulty_count(p->faults, ""), 0);
}

static void error_names_file_line_and_object(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    const kc_apply_source sources[] = {
        {"first.yaml", KC_STR(MAP("a", "one"))},
        {"second.yaml", KC_STR(MAP("b", "one") "---\n" MAP("c", "{x: 1}"))},
    };
    assert_true(kc_apply_sources(p->client, sources, 2, NULL, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "second.yaml: line 6: ConfigMap c: "));
    assert_value(p, "b", "one");
}

static void invalid_document_changes_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_refused(p, MAP("a", "one") "---\nkind: ConfigMap\nmetadata: {name: b}\n", KC_BAD_REQUEST,
                   "line 6: the object has no apiVersion");
    assert_refused(p, "apiVersion: v1\nmetadata: {name: b}\n", KC_BAD_REQUEST,
                   "line 1: the object has no kind");
    assert_refused(p, "apiVersion: v1\nkind: ConfigMap\n", KC_BAD_REQUEST,
                   "line 1: the object has no metadata.name");
    assert_refused(p, "- a\n", KC_BAD_REQUEST, "line 1: expected an object, got array");
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, KC_STR(MAP("a", "1") "---\na: [\n"), NULL, &err) < 0);
    kc_auto(kc_object) *map =
        kc_client_get(p->client, &kc_kind_config_map, KC_KEY("default", "a"), NULL, NULL);
    assert_null(map);
}

static void rejected_crd_names_end_the_wait_at_once(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, DEFINITION("widgets", "Widget"));
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, KC_STR(DEFINITION("others", "Widget")),
                              &(kc_apply_opts){.timeout = 10 * KC_MINUTE}, &err) < 0);
    assert_int_equal(err.reason, KC_CONFLICT);
    assert_non_null(strstr(kc_error_text(&err), "CRD others.apply.test: names not accepted: "));
}

/* ---- files and folders ---- */

static void put_file(const char *folder, const char *name, const char *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_files(const char *folder, const char *const *names)
{
    for (; *names; names++) {
        kc_autofree char *path = kc_asprintf("%s/%s", folder, *names);
        unlink(path);
    }
    rmdir(folder);
}

static void directory_is_applied_in_order_of_file_names(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    char folder[] = "/tmp/kc-apply-XXXXXX";
    assert_non_null(mkdtemp(folder));
    put_file(folder, "a.yaml", WIDGET("w"));
    put_file(folder, "b.json",
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
             "{\"name\":\"b\"}}");
    put_file(folder, "c.yml", DEFINITION("widgets", "Widget"));
    put_file(folder, "d.txt", "no manifest");
    put_file(folder, ".e.yaml", "no: manifest");
    const int r =
        kc_apply_dir(p->client, folder, &(kc_apply_opts){.report = record_result, .user = p}, &err);
    remove_files(folder,
                 (const char *const[]){"a.yaml", "b.json", "c.yml", "d.txt", ".e.yaml", NULL});
    if (r < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_string_equal(kc_buf_cstr(&p->results),
                        "created CustomResourceDefinition widgets.apply.test (c.yml 1)\n"
                        "created Widget default/w (a.yaml 1)\n"
                        "created ConfigMap default/b (b.json 1)\n");
}

static void missing_files_are_named_in_error(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_file(p->client, "/no/such.yaml", NULL, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
    assert_non_null(strstr(kc_error_text(&err), "/no/such.yaml"));
    assert_true(kc_apply_dir(p->client, "/no/such", NULL, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
    char folder[] = "/tmp/kc-apply-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_true(kc_apply_dir(p->client, folder, NULL, &err) < 0);
    rmdir(folder);
    assert_non_null(strstr(kc_error_text(&err), "has no file *.yaml, *.yml or *.json"));
}

TESTS(last_applied_annotation_is_written_on_request, missing_object_is_created,
      existing_object_is_configured, server_set_fields_are_no_change,
      keep_mode_leaves_existing_objects, namespace_of_object_or_option_is_used,
      choose_function_decides_per_object, lists_are_split_into_their_items, json_is_applied,
      empty_text_applies_nothing, crds_and_namespaces_are_applied_first,
      kind_is_found_after_its_crd_is_applied, crds_are_served_when_apply_returns,
      apply_waits_on_the_clock_of_the_client, kind_missing_in_discovery_is_waited_for,
      kind_with_existing_crd_is_waited_for, wait_for_kind_ends_at_timeout,
      concurrent_create_or_delete_is_retried, unchanged_objects_send_no_writes,
      text_beyond_limits_is_refused_before_any_request, error_names_file_line_and_object,
      invalid_document_changes_nothing, rejected_crd_names_end_the_wait_at_once,
      directory_is_applied_in_order_of_file_names, missing_files_are_named_in_error)
