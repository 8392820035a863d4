/* SPDX-License-Identifier: Apache-2.0 */
/* Initial objects of kc up: loaded once, and left to the users afterwards. */
#include "initial.h"
#include "testing.h"

#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/map.h"
#include "kc/yaml.h"

#include <stdio.h>

#define DEFINITION(columns)                                                                    \
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "   \
    "things.initial.test}\nspec:\n  group: initial.test\n  scope: Cluster\n  names: {kind: "   \
    "Thing, plural: things}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n" \
    "    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: string}}}}\n"      \
    "    additionalPrinterColumns: [" columns "]\n"
#define THING(name, spec) \
    "apiVersion: initial.test/v1\nkind: Thing\nmetadata: {name: " name "}\nspec: " spec "\n"

static const kc__cli_manifest first[] = {
    {"initialization/things/a.yaml", KC_STR_INIT(THING("a", "old"))},
    {"initialization/maps/m.yaml",
     KC_STR_INIT("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {k: old}}")},
    {"manifests/thing/initial.test_things.yaml", KC_STR_INIT(DEFINITION(""))},
};
enum { N_FIRST = 3 };

/* What the next version of the program has. */
static const kc__cli_manifest second[] = {
    {"initialization/things/a.yaml", KC_STR_INIT(THING("a", "new"))},
    {"initialization/things/b.yaml", KC_STR_INIT(THING("b", "new"))},
    {"manifests/thing/initial.test_things.yaml",
     KC_STR_INIT(DEFINITION("{name: Spec, type: string, jsonPath: .spec}"))},
};
enum { N_SECOND = 3 };

/* A plane that can be started again over what it has kept. */
typedef struct plane {
    kc_embedded_memory *memory;
    kc_embedded_server *server;
    kc_client *client;
} plane;

static void plane_down(plane *p)
{
    p->client = kc_client_unref(p->client);
    p->server = kc_embedded_server_stop(p->server);
}

static void plane_up(plane *p)
{
    plane_down(p);
    p->server = kc_embedded_server_start(&(kc_embedded_server_opts){.memory = p->memory}, NULL);
    assert_non_null(p->server);
    p->client = kc_embedded_server_client(p->server, NULL);
    assert_non_null(p->client);
}

static plane *plane_new(void)
{
    plane *p = kc_new(plane);
    p->memory = kc_embedded_memory_new();
    plane_up(p);
    return p;
}

static plane *plane_free(plane *p)
{
    plane_down(p);
    kc_embedded_memory_free(p->memory);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(plane, plane_free)

static void load(plane *p, const kc__cli_manifest *manifests, size_t n)
{
    kc_scoped(kc_error) err = {0};
    if (kc__cli_initial_load(p->client, manifests, n, NULL, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(err.reason, KC_OK);
}

static const kc_kind thing = {.group = "initial.test",
                              .version = "v1",
                              .kind = "Thing",
                              .plural = "things",
                              .singular = "thing"};

static const char *value_in(const kc_object *object, const char *names)
{
    static char text[256];
    kc_auto(kc_view) *view = kc_view_of(object);
    snprintf(text, sizeof(text), "%s",
             kc_value_as_cstr(kc_value_nested(kc_view_root(view), names), "?"));
    return text;
}

static const char *spec_of(plane *p, const char *name)
{
    kc_auto(kc_object) *object = kc_client_get(p->client, &thing, KC_KEY("", name), NULL, NULL);
    return object ? value_in(object, "spec") : "gone";
}

static void set_spec(plane *p, const char *name, const char *spec)
{
    kc_autofree char *patch = kc_asprintf("{\"spec\":\"%s\"}", spec);
    kc_auto(kc_object) *now = kc_client_patch(p->client, &thing, KC_KEY("", name), KC_PATCH_MERGE,
                                              kc_cstr(patch), NULL, NULL);
    assert_non_null(now);
}

static void drop(plane *p, const char *name)
{
    assert_int_equal(kc_client_delete(p->client, &thing, KC_KEY("", name), NULL, NULL), 0);
}

static kc_object *memory_of(plane *p)
{
    return kc_client_get(p->client, &kc_kind_config_map,
                         KC_KEY(KC__CLI_INITIAL_NAMESPACE, KC__CLI_INITIAL_NAME), NULL, NULL);
}

/* ---- starts ---- */

static void first_start_loads_everything(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    load(p, first, N_FIRST);
    assert_string_equal(spec_of(p, "a"), "old");
    kc_auto(kc_object) *map =
        kc_client_get(p->client, &kc_kind_config_map, KC_KEY("default", "m"), NULL, NULL);
    assert_non_null(map);
    kc_auto(kc_object) *memory = memory_of(p);
    assert_non_null(memory);
    kc_auto(kc_view) *view = kc_view_of(memory);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    assert_int_equal(kc_value_len(data), 2);
    assert_string_equal(kc_value_as_cstr(kc_value_get(data, "Thing.initial.test__a"), ""),
                        "initialization/things/a.yaml");
    assert_non_null(kc_value_get(data, "ConfigMap__m"));
}

static uint64_t revision_of_a_write(plane *p)
{
    kc_auto(kc_object) *probe = kc_object_parse(
        KC_STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"generateName\":"
               "\"probe-\",\"namespace\":\"default\"}}"),
        NULL, NULL);
    kc_auto(kc_object) *made = kc_client_create(p->client, probe, NULL, NULL);
    assert_non_null(made);
    return kc_object_revision(made);
}

static void second_start_writes_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    load(p, first, N_FIRST);
    plane_up(p);
    load(p, first, N_FIRST);
    const uint64_t before = revision_of_a_write(p);
    load(p, first, N_FIRST);
    assert_int_equal(revision_of_a_write(p), before + 1);
}

static void objects_changed_by_users_are_kept(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    load(p, first, N_FIRST);
    set_spec(p, "a", "mine");
    plane_up(p);
    load(p, second, N_SECOND);
    assert_string_equal(spec_of(p, "a"), "mine");
}

static void objects_deleted_by_users_stay_deleted(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    load(p, first, N_FIRST);
    drop(p, "a");
    plane_up(p);
    load(p, second, N_SECOND);
    assert_string_equal(spec_of(p, "a"), "gone");
    assert_string_equal(spec_of(p, "b"), "new");
}

static void newer_version_adds_objects_and_updates_crds(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    load(p, first, N_FIRST);
    load(p, second, N_SECOND);
    assert_string_equal(spec_of(p, "a"), "old");
    assert_string_equal(spec_of(p, "b"), "new");
    kc_auto(kc_object) *definition = kc_client_get(p->client, &kc_kind_custom_resource_definition,
                                                   KC_KEY("", "things.initial.test"), NULL, NULL);
    assert_true(kc_str_contains(kc_object_json(definition), KC_STR("\"jsonPath\":\".spec\"")));
    drop(p, "b");
    load(p, second, N_SECOND);
    assert_string_equal(spec_of(p, "b"), "gone");
}

static void existing_objects_count_as_loaded(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    assert_int_equal(kc_apply_sources(p->client, &first[2], 1, NULL, NULL), 0);
    assert_int_equal(kc_apply_text(p->client, KC_STR(THING("a", "mine")), NULL, NULL), 0);
    load(p, first, N_FIRST);
    assert_string_equal(spec_of(p, "a"), "mine");
    drop(p, "a");
    load(p, first, N_FIRST);
    assert_string_equal(spec_of(p, "a"), "gone");
}

static void special_characters_in_names_are_escaped(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    const kc__cli_manifest role = {
        "initialization/roles/odd.yaml",
        KC_STR("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "
               "\"odd:one_two\"}}")};
    load(p, &role, 1);
    kc_auto(kc_object) *memory = memory_of(p);
    assert_non_null(memory);
    assert_true(
        kc_str_contains(kc_object_json(memory),
                        KC_STR("\"ClusterRole.rbac.authorization.k8s.io__odd_3aone_5ftwo\"")));
}

/* ---- failures ---- */

/* A way to the server that ends after some writes, as a process does. */
typedef struct mortal {
    kc_transport base;
    kc_transport *way;
    int left;
} mortal;

static kc_http_response *mortal_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    mortal *m = (mortal *)t;
    if (m->left <= 0 || (strcmp(request->method, "GET") != 0 && --m->left < 0)) {
        kc_error_set(err, KC_TIMEOUT, "the process has ended");
        return NULL;
    }
    return kc_transport_open(m->way, request, err);
}

static void mortal_free(kc_transport *t)
{
    mortal *m = (mortal *)t;
    kc_transport_free(m->way);
    free(m);
}

static const kc_transport_ops mortal_ops = {.open = mortal_open, .free = mortal_free};

/* Whether it got to the end. */
static bool load_until_killed(plane *p, int writes)
{
    mortal *m = kc_new(mortal);
    *m = (mortal){{&mortal_ops}, kc_embedded_server_transport(p->server, NULL), writes};
    kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){.transport = &m->base}, NULL);
    return kc__cli_initial_load(client, first, N_FIRST, NULL, NULL) == 0;
}

static void crash_after_any_write_is_recovered(void **state)
{
    (void)state;
    bool whole = false;
    for (int writes = 1; !whole; writes++) {
        kc_auto(plane) *p = plane_new();
        whole = load_until_killed(p, writes);
        plane_up(p);
        load(p, first, N_FIRST);
        assert_string_equal(spec_of(p, "a"), "old");
        drop(p, "a");
        load(p, first, N_FIRST);
        assert_string_equal(spec_of(p, "a"), "gone");
        assert_true(writes < 10);
    }
}

static void objects_before_an_invalid_one_are_recorded(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    kc_scoped(kc_error) err = {0};
    const kc__cli_manifest bad[] = {
        {"initialization/things/a.yaml", KC_STR_INIT(THING("a", "old"))},
        {"initialization/things/bad.yaml", KC_STR_INIT(THING("bad", "{no: text}"))},
        first[2],
    };
    assert_true(kc__cli_initial_load(p->client, bad, 3, NULL, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err),
                           "initial objects: initialization/things/bad.yaml: line 1: Thing bad"));
    drop(p, "a");
    load(p, first, N_FIRST);
    assert_string_equal(spec_of(p, "a"), "gone");
}

/* ---- current version ---- */

static void built_in_manifests_can_be_loaded(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    load(p, kc__cli_manifests, kc__cli_n_manifests);
    const kc_kind *users = kc_client_kind_of_resource(p->client, KC_STR("users"), NULL);
    assert_non_null(users);
    kc_auto(kc_object) *admin = kc_client_get(p->client, users, KC_KEY("", "admin"), NULL, NULL);
    assert_non_null(admin);
    plane_up(p);
    load(p, kc__cli_manifests, kc__cli_n_manifests);
}

typedef void each_fn(const kc_value *object, const char *file, void *user);

typedef struct walk {
    each_fn *each;
    const char *file;
    void *user;
} walk;

static int walk_document(kc_view *view, void *user)
{
    const walk *w = user;
    w->each(kc_view_root(view), w->file, w->user);
    kc_view_free(view);
    return 0;
}

static void each_object(each_fn *each, void *user)
{
    for (size_t i = 0; i < kc__cli_n_manifests; i++) {
        walk w = {each, kc__cli_manifests[i].name, user};
        assert_int_equal(kc_yaml_each(kc__cli_manifests[i].text, NULL, walk_document, &w, NULL), 0);
    }
}

static bool is_kind(const kc_value *object, const char *kind)
{
    return kc_str_is(kc_value_as_str(kc_value_get(object, "kind")), kind);
}

static void check_room(const kc_value *object, const char *file, void *user)
{
    (void)user;
    const bool definition = is_kind(object, "CustomResourceDefinition");
    if (definition != kc_str_starts(kc_cstr(file), KC_STR("manifests/")))
        fail_msg("%s has an object of another directory", file);
}

static void crds_and_objects_have_their_own_directories(void **state)
{
    (void)state;
    assert_true(kc__cli_n_manifests > 10);
    each_object(check_room, NULL);
}

/* Names of all objects of one kind; the map owns its keys. */
typedef struct names {
    const char *kind;
    kc_map set;
} names;

static void names_done(names *n)
{
    kc_map_each (&n->set, entry)
        free((char *)entry->key.p);
    kc_map_done(&n->set);
}

static void collect(const kc_value *object, const char *file, void *user)
{
    names *n = user;
    const kc_str name = kc_value_as_str(kc_value_nested(object, "metadata.name"));
    if (!is_kind(object, n->kind))
        return;
    if (kc_map_get(&n->set, name))
        fail_msg("%s: duplicate %s %.*s", file, n->kind, KC_ARG(name));
    kc_map_put(&n->set, kc_str_of(kc_str_dup(name), name.n), n);
}

static void assert_known(const names *n, kc_str name, const char *file)
{
    if (name.n && !kc_map_get(&n->set, name))
        fail_msg("%s: missing %s %.*s", file, n->kind, KC_ARG(name));
}

static void check_catalog(const kc_value *object, const char *file, void *user)
{
    const kc_value *annotations = kc_value_nested(object, "metadata.annotations");
    const kc_str catalog = kc_value_as_str(kc_value_get(annotations, "kubecontroller.io/catalog"));
    if (!is_kind(object, "CustomResourceDefinition"))
        return;
    if (!catalog.n)
        fail_msg("%s: the kind is in no catalog", file);
    assert_known(user, catalog, file);
}

static void every_kind_has_an_existing_catalog(void **state)
{
    (void)state;
    kc_scoped(names) catalogs = {.kind = "Catalog"};
    each_object(collect, &catalogs);
    each_object(check_catalog, &catalogs);
}

static void check_teams(const kc_value *object, const char *file, void *user)
{
    if (is_kind(object, "User"))
        kc_value_each_item (kc_value_nested(object, "spec.teams"), team)
            assert_known(user, kc_value_as_str(team), file);
    if (is_kind(object, "Team"))
        assert_known(user, kc_value_as_str(kc_value_nested(object, "spec.parent")), file);
}

static void check_owners(const kc_value *object, const char *file, void *user)
{
    if (is_kind(object, "Team"))
        kc_value_each_item (kc_value_nested(object, "spec.owners"), owner)
            assert_known(user, kc_value_as_str(owner), file);
}

static void users_and_teams_refer_to_each_other(void **state)
{
    (void)state;
    kc_scoped(names) teams = {.kind = "Team"}, users = {.kind = "User"};
    each_object(collect, &teams);
    each_object(collect, &users);
    each_object(check_teams, &teams);
    each_object(check_owners, &users);
}

static void check_version(const kc_value *object, const char *file, void *user)
{
    bool *found = user;
    (void)file;
    if (is_kind(object, "BinMeta") &&
        kc_str_is(kc_value_as_str(kc_value_nested(object, "spec.binary")), "kc")) {
        assert_string_equal(kc_value_as_cstr(kc_value_nested(object, "spec.version"), ""),
                            "v" KC_VERSION);
        assert_string_equal(kc_value_as_cstr(kc_value_nested(object, "metadata.name"), ""),
                            "kc-v" KC_VERSION);
        *found = true;
    }
}

static void program_manifest_has_the_program_version(void **state)
{
    (void)state;
    bool found = false;
    each_object(check_version, &found);
    assert_true(found);
}

TESTS(first_start_loads_everything, second_start_writes_nothing, objects_changed_by_users_are_kept,
      objects_deleted_by_users_stay_deleted, newer_version_adds_objects_and_updates_crds,
      existing_objects_count_as_loaded, special_characters_in_names_are_escaped,
      crash_after_any_write_is_recovered, objects_before_an_invalid_one_are_recorded,
      built_in_manifests_can_be_loaded, crds_and_objects_have_their_own_directories,
      every_kind_has_an_existing_catalog, users_and_teams_refer_to_each_other,
      program_manifest_has_the_program_version)
