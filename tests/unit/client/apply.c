/* SPDX-License-Identifier: Apache-2.0 */
/* Applying YAML to the real server: what becomes of each object, in which order, and errors. */
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
    kc_embed *server;
    faulty *way;
    kc_client *client;
    kc_buf told; /* "created Kind ns/name (source 1)\n" for each. */
} plane;

static void tell(const kc_apply_report *r, void *user)
{
    plane *p = user;
    kc_buf_printf(&p->told, "%s %s ", kc_applied_text(r->what), r->kind->kind);
    kc_key_write(&p->told, r->key);
    if (r->source)
        kc_buf_printf(&p->told, " (%s %zu)", strrchr(r->source, '/') + 1, r->document);
    kc_buf_putc(&p->told, '\n');
}

static plane *plane_start(void)
{
    plane *p = kc_new(plane);
    p->server = kc_embed_start(NULL, NULL);
    assert_non_null(p->server);
    p->way = faulty_new(kc_embed_transport(p->server, NULL), kc_clock_real());
    p->client = kc_client_new(&(kc_client_opts){.transport = faulty_transport(p->way)}, NULL);
    assert_non_null(p->client);
    return p;
}

static plane *plane_stop(plane *p)
{
    kc_client_unref(p->client);
    kc_embed_stop(p->server);
    kc_buf_done(&p->told);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(plane, plane_stop)

/* Applies, and gives what was told. */
static const char *applied_with(plane *p, const char *text, kc_apply_opts opts)
{
    kc_scoped(kc_error) err = {0};
    opts.report = tell;
    opts.user = p;
    kc_buf_clear(&p->told);
    if (kc_apply_text(p->client, kc_cstr(text), &opts, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(err.reason, KC_OK);
    return kc_buf_cstr(&p->told);
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
    assert_string_equal(kc_as_cstr(kc_dig(kc_view_root(view), "data.k"), ""), value);
}

/* ---- one object ---- */

static void what_is_not_there_is_created(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(applied(p, MAP("a", "one")), "created ConfigMap default/a\n");
    assert_value(p, "a", "one");
}

static void what_is_there_gets_what_the_text_says(void **state)
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

static void what_only_the_server_sets_is_no_change(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    const char *text =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: null}}";
    assert_string_equal(applied(p, text), "created ConfigMap default/a\n");
    assert_string_equal(applied(p, text), "unchanged ConfigMap default/a\n");
}

static void what_is_there_can_be_kept(void **state)
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
static void what_is_written_can_remember_the_text(void **state)
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

static void the_namespace_is_the_objects_or_the_given_one(void **state)
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

static kc_apply_how not_b(const kc_object *object, void *user)
{
    (void)user;
    return kc_str_is(kc_object_name(object), "a")   ? KC_APPLY_KEEP
           : kc_str_is(kc_object_name(object), "b") ? KC_APPLY_SKIP
                                                    : KC_APPLY_MERGE;
}

static void what_is_done_can_be_chosen_for_each(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, MAP("a", "x") "---\n" MAP("c", "x"));
    assert_string_equal(applied_with(p, MAP("a", "z") "---\n" MAP("b", "z") "---\n" MAP("c", "z"),
                                     (kc_apply_opts){.choose = not_b}),
                        "kept ConfigMap default/a\nconfigured ConfigMap default/c\n");
}

/* ---- several ---- */

static void lists_are_taken_apart(void **state)
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

static void json_is_read_too(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(applied(p, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                   "{\"name\":\"a\"}}"),
                        "created ConfigMap default/a\n");
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_string_equal(applied(p, ""), "");
    assert_string_equal(applied(p, "# only\n---\n---\n"), "");
}

static void the_order_of_documents_does_not_matter(void **state)
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

static void a_kind_may_come_after_its_group_was_asked_for(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_refused(p, WIDGET("w"), KC_NOT_FOUND,
                   "document 1: Widget w: no matches for kind \"Widget\" in version "
                   "\"apply.test/v1\"");
    const int64_t began = kc_clock_now(kc_clock_real());
    applied(p, DEFINITION("gadgets", "Gadget"));
    applied(p, DEFINITION("widgets", "Widget"));
    assert_string_equal(applied(p, WIDGET("w")), "created Widget default/w\n");
    assert_true(kc_clock_now(kc_clock_real()) - began < 5 * KC_SECOND);
}

static void many_definitions_are_served_when_it_returns(void **state)
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

static void it_waits_on_the_clients_clock(void **state)
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

static void a_kind_that_is_late_in_discovery_is_waited_for(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    faulty_answer(p->way, "GET /apis/apply.test/v1", 3, 404, STATUS(404, "NotFound"));
    assert_string_equal(applied(p, DEFINITION("widgets", "Widget") "---\n" WIDGET("w")),
                        "created CustomResourceDefinition widgets.apply.test\n"
                        "created Widget default/w\n");
    assert_int_equal(faulty_count(p->way, "GET /apis/apply.test/v1"), 5);
}

static void a_kind_whose_definition_is_there_is_waited_for(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_auto(kc_client) *other = kc_embed_client(p->server, NULL);
    assert_int_equal(kc_apply_text(other, KC_STR(DEFINITION("widgets", "Widget")), NULL, NULL), 0);
    faulty_answer(p->way, "GET /apis/apply.test/v1", 3, 404, STATUS(404, "NotFound"));
    assert_string_equal(applied(p, WIDGET("w")), "created Widget default/w\n");
}

static void it_does_not_wait_for_ever(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    faulty_answer(p->way, "GET /apis/apply.test/v1", -1, 404, STATUS(404, "NotFound"));
    assert_true(kc_apply_text(p->client, KC_STR(DEFINITION("widgets", "Widget")),
                              &(kc_apply_opts){.timeout = 20 * KC_MILLISECOND}, &err) < 0);
    assert_int_equal(err.reason, KC_TIMEOUT);
    assert_string_equal(kc_error_text(&err),
                        "definition widgets.apply.test: the server does not serve it yet: no "
                        "matches for kind \"Widget\" in version \"apply.test/v1\"");
}

static void who_is_overtaken_looks_again(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    faulty_answer(p->way, "POST /api/v1/namespaces/default/configmaps", 1, 409,
                  STATUS(409, "AlreadyExists"));
    assert_string_equal(applied(p, MAP("a", "one")), "created ConfigMap default/a\n");
    faulty_answer(p->way, "PATCH /api/v1/namespaces/default/configmaps", 1, 404,
                  STATUS(404, "NotFound"));
    assert_string_equal(applied(p, MAP("a", "two")), "configured ConfigMap default/a\n");
    faulty_answer(p->way, "PATCH /api/v1/namespaces/default/configmaps", -1, 404,
                  STATUS(404, "NotFound"));
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, KC_STR(MAP("a", "three")), NULL, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
}

static void who_has_nothing_to_change_writes_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, DEFINITION("widgets", "Widget") "---\n" MAP("a", "one"));
    const size_t before = faulty_count(p->way, "PATCH ") + faulty_count(p->way, "POST ");
    assert_string_equal(applied(p, DEFINITION("widgets", "Widget") "---\n" MAP("a", "one")),
                        "unchanged CustomResourceDefinition widgets.apply.test\n"
                        "unchanged ConfigMap default/a\n");
    assert_int_equal(faulty_count(p->way, "PATCH ") + faulty_count(p->way, "POST "), before);
}

/* ---- errors ---- */

static void what_is_too_large_is_refused_before_anything_is_sent(void **state)
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
    assert_string_equal(kc_error_text(&err), "document 1: there are more than 100000 objects");
    assert_int_equal(faulty_count(p->way, ""), 0);
}

static void an_error_names_the_document_and_the_object(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    const kc_apply_source sources[] = {
        {"first.yaml", KC_STR(MAP("a", "one"))},
        {"second.yaml", KC_STR(MAP("b", "one") "---\n" MAP("c", "{x: 1}"))},
    };
    assert_true(kc_apply_sources(p->client, sources, 2, NULL, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "second.yaml: document 2: ConfigMap c: "));
    assert_value(p, "b", "one");
}

static void what_cannot_be_read_changes_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    assert_refused(p, MAP("a", "one") "---\nkind: ConfigMap\nmetadata: {name: b}\n", KC_BAD_REQUEST,
                   "document 2: the object has no apiVersion");
    assert_refused(p, "apiVersion: v1\nmetadata: {name: b}\n", KC_BAD_REQUEST,
                   "document 1: the object has no kind");
    assert_refused(p, "apiVersion: v1\nkind: ConfigMap\n", KC_BAD_REQUEST,
                   "document 1: the object has no metadata.name");
    assert_refused(p, "- a\n", KC_BAD_REQUEST, "document 1: not an object but of the type array");
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, KC_STR(MAP("a", "1") "---\na: [\n"), NULL, &err) < 0);
    kc_auto(kc_object) *map =
        kc_client_get(p->client, &kc_kind_config_map, KC_KEY("default", "a"), NULL, NULL);
    assert_null(map);
}

static void names_that_are_anothers_end_the_wait_at_once(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    applied(p, DEFINITION("widgets", "Widget"));
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_text(p->client, KC_STR(DEFINITION("others", "Widget")),
                              &(kc_apply_opts){.timeout = 10 * KC_MINUTE}, &err) < 0);
    assert_int_equal(err.reason, KC_CONFLICT);
    assert_non_null(
        strstr(kc_error_text(&err), "definition others.apply.test: its names are not accepted: "));
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

static void a_folder_is_applied_by_the_names_of_its_files(void **state)
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
        kc_apply_folder(p->client, folder, &(kc_apply_opts){.report = tell, .user = p}, &err);
    remove_files(folder,
                 (const char *const[]){"a.yaml", "b.json", "c.yml", "d.txt", ".e.yaml", NULL});
    if (r < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_string_equal(kc_buf_cstr(&p->told),
                        "created CustomResourceDefinition widgets.apply.test (c.yml 1)\n"
                        "created Widget default/w (a.yaml 1)\n"
                        "created ConfigMap default/b (b.json 1)\n");
}

static void files_that_are_not_there_are_named(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_start();
    kc_scoped(kc_error) err = {0};
    assert_true(kc_apply_file(p->client, "/no/such.yaml", NULL, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
    assert_non_null(strstr(kc_error_text(&err), "/no/such.yaml"));
    assert_true(kc_apply_folder(p->client, "/no/such", NULL, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_FOUND);
    char folder[] = "/tmp/kc-apply-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_true(kc_apply_folder(p->client, folder, NULL, &err) < 0);
    rmdir(folder);
    assert_non_null(strstr(kc_error_text(&err), "has no file *.yaml, *.yml or *.json"));
}

TESTS(what_is_written_can_remember_the_text, what_is_not_there_is_created,
      what_is_there_gets_what_the_text_says, what_only_the_server_sets_is_no_change,
      what_is_there_can_be_kept, the_namespace_is_the_objects_or_the_given_one,
      what_is_done_can_be_chosen_for_each, lists_are_taken_apart, json_is_read_too,
      nothing_is_nothing, the_order_of_documents_does_not_matter,
      a_kind_may_come_after_its_group_was_asked_for, many_definitions_are_served_when_it_returns,
      it_waits_on_the_clients_clock, a_kind_that_is_late_in_discovery_is_waited_for,
      a_kind_whose_definition_is_there_is_waited_for, it_does_not_wait_for_ever,
      who_is_overtaken_looks_again, who_has_nothing_to_change_writes_nothing,
      what_is_too_large_is_refused_before_anything_is_sent,
      an_error_names_the_document_and_the_object, what_cannot_be_read_changes_nothing,
      names_that_are_anothers_end_the_wait_at_once, a_folder_is_applied_by_the_names_of_its_files,
      files_that_are_not_there_are_named)
