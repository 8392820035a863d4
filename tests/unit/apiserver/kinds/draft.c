/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts: one tree for all edits of a write, frozen and type-checked once; metadata in both forms.
 */
#include "apiserver/kinds/draft.h"

#include "apiserver/call/metadata.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"
#include "testing.h"

#define MAP "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m'},'data':{'k':'v'}}"

static const kc__strategy *strategy_of(const kc__resource *resource)
{
    return kc__strategy_find(kc_cstr(resource->group), kc_cstr(resource->storage));
}

static kc__registry *all_kinds(void)
{
    return kc__registry_new(
        &(kc__registry_opts){.find_type = kc__type_lookup, .find_strategy = strategy_of});
}

static const kc__resource *config_maps(const kc__registry *kinds)
{
    return kc__registry_find(kinds, KC_STR(""), KC_STR("v1"), KC_STR("configmaps"));
}

static void draft_without_edits_freezes_to_same_object(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = all_kinds();
    kc_auto(kc_object) *object = object_of(MAP);
    kc__draft draft = {0};
    assert_true(kc__draft_is_empty(&draft));
    kc__draft_set(&draft, object);
    assert_false(kc__draft_is_open(&draft));
    assert_ptr_equal(kc__draft_freeze(&draft, config_maps(kinds), NULL), object);
    kc__draft_clear(&draft);
    assert_true(kc__draft_is_empty(&draft));
}

static void edits_share_one_tree_until_draft_is_frozen(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = all_kinds();
    kc_auto(kc_object) *object = object_of(MAP);
    kc__draft draft = {0};
    kc__draft_set(&draft, object);
    kc_edit *edit = kc__draft_edit(&draft);
    kc_edit_set_nested(edit, "data.a", kc_node_str(edit, KC_STR("1")));
    assert_ptr_equal(kc__draft_edit(&draft), edit);
    assert_true(kc__draft_is_open(&draft));
    const kc_object *frozen = kc__draft_freeze(&draft, config_maps(kinds), NULL);
    assert_false(kc__draft_is_open(&draft));
    /* Typed: the map is sorted, metadata has its fields. */
    assert_non_null(strstr(kc_object_json(frozen).p, "\"data\":{\"a\":\"1\",\"k\":\"v\"}"));
    kc__draft_clear(&draft);
}

static void freezing_orders_members_and_drops_unknown_ones(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = all_kinds();
    kc_auto(kc_object) *object = object_of("{'data':{'k':'v'},'kind':'ConfigMap','apiVersion':'v1',"
                                           "'metadata':{'name':'m'}}");
    kc__draft draft = {0};
    kc__draft_set(&draft, object);
    kc_edit *edit = kc__draft_edit(&draft);
    kc_edit_set_nested(edit, "unknown", kc_node_bool(edit, true));
    kc_edit_set_nested(edit, "immutable", kc_node_null(edit));
    const kc_object *frozen = kc__draft_freeze(&draft, config_maps(kinds), NULL);
    kc_str text = kc_object_json(frozen);
    assert_true(kc_str_starts(text, KC_STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"")));
    assert_null(memmem(text.p, text.n, "unknown", 7));
    assert_null(memmem(text.p, text.n, "immutable", 9));
    kc__draft_clear(&draft);
}

static void freezing_wrong_type_fails_and_keeps_contents(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__registry) *kinds = all_kinds();
    kc_auto(kc_object) *object = object_of(MAP);
    kc__draft draft = {0};
    kc__draft_set(&draft, object);
    kc_edit *edit = kc__draft_edit(&draft);
    kc_edit_set_nested(edit, "data", kc_node_i64(edit, 1));
    assert_null(kc__draft_freeze(&draft, config_maps(kinds), &err));
    assert_error(&err, KC_BAD_REQUEST, "cannot unmarshal number");
    assert_true(kc__draft_is_open(&draft));
    kc__draft_clear(&draft);
}

static void name_falls_back_to_generate_name_in_both_forms(void **state)
{
    (void)state;
    kc_arena arena = {0};
    kc_auto(kc_object) *object = object_of("{'metadata':{'generateName':'g-'}}");
    kc__draft draft = {0};
    kc__draft_set(&draft, object);
    assert_str(kc__draft_name(&draft, &arena), "g-");
    kc__draft_edit(&draft);
    assert_str(kc__draft_name(&draft, &arena), "g-");
    kc__draft_clear(&draft);
    kc_arena_done(&arena);
}

/* ---- managedFields ---- */

#define OWNED(fields)                                                                      \
    "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m','managedFields':" fields \
    "},'data':{'k':'v'}}"

static void managed_fields_are_no_part_of_tree_and_survive_freezing(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = all_kinds();
    kc_auto(kc_object) *object = object_of(OWNED("[{'manager':'me'}]"));
    kc__draft draft = {0};
    kc__draft_set(&draft, object);
    kc_edit *edit = kc__draft_edit(&draft);
    const kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    assert_null(kc_node_get(metadata, KC_STR("managedFields")));
    kc_edit_set_nested(edit, "metadata.labels.l", kc_node_str(edit, KC_STR("1")));
    const kc_object *frozen = kc__draft_freeze(&draft, config_maps(kinds), NULL);
    assert_str(
        kc_object_metadata_json(frozen),
        "{\"name\":\"m\",\"labels\":{\"l\":\"1\"},\"managedFields\":[{\"manager\":\"me\"}]}");
    /* Opened again, they are those of the frozen object. */
    kc__draft_edit(&draft);
    frozen = kc__draft_freeze(&draft, config_maps(kinds), NULL);
    assert_str(kc_object_managed_fields_json(frozen), "[{\"manager\":\"me\"}]");
    kc__draft_clear(&draft);
}

static void managed_fields_set_in_tree_and_in_bytes_give_equal_objects(void **state)
{
    (void)state;
    static const char *const samples[] = {MAP, OWNED("[{'manager':'me'}]")};
    static const char *const owners[] = {"[{\"manager\":\"you\"}]", ""};
    kc_auto(kc__registry) *kinds = all_kinds();
    for (size_t i = 0; i < KC_COUNT(samples) * KC_COUNT(owners); i++) {
        kc_auto(kc_object) *object = object_of(samples[i / 2]);
        kc__draft bytes = {0}, tree = {0};
        kc__draft_set(&bytes, object);
        kc__draft_set_managed_fields(&bytes, kc_cstr(owners[i % 2]));
        assert_false(kc__draft_is_open(&bytes));
        kc__draft_set(&tree, object);
        kc__draft_edit(&tree);
        kc__draft_set_managed_fields(&tree, kc_cstr(owners[i % 2]));
        assert_true(kc__draft_is_open(&tree));
        const kc_object *one = kc__draft_freeze(&bytes, config_maps(kinds), NULL);
        const kc_object *two = kc__draft_freeze(&tree, config_maps(kinds), NULL);
        assert_str(kc_object_managed_fields_json(one), owners[i % 2]);
        assert_true(kc_str_eq(kc_object_metadata_json(one), kc_object_metadata_json(two)));
        kc__draft_clear(&bytes);
        kc__draft_clear(&tree);
    }
}

static void replaced_draft_forgets_managed_fields(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = all_kinds();
    kc_auto(kc_object) *owned = object_of(OWNED("[{'manager':'me'}]")), *plain = object_of(MAP);
    kc__draft draft = {0};
    kc__draft_set(&draft, owned);
    kc__draft_edit(&draft);
    kc__draft_set(&draft, plain);
    kc__draft_edit(&draft);
    const kc_object *frozen = kc__draft_freeze(&draft, config_maps(kinds), NULL);
    assert_int_equal(kc_object_managed_fields_json(frozen).n, 0);
    kc__draft_clear(&draft);
}

/* ---- metadata ---- */

/* Sets metadata as a create does, in bytes or in a tree, and freezes. */
static const kc_object *set_metadata(kc__draft *draft, const kc_object *object, bool tree,
                                     const kc__resource *resource, kc_arena *arena)
{
    kc__rest_metadata m;
    kc__draft_set(draft, object);
    if (tree)
        kc__draft_edit(draft);
    kc__rest_metadata_of_draft(draft, arena, &m);
    m.uid = KC_STR("u-1");
    m.created = KC_STR("2026-01-02T03:04:05Z");
    m.generation = 3;
    m.resource_version = KC_STR("0");
    m.ns = KC_STR("default");
    m.deleted = (kc_str){0};
    m.has_grace = false;
    m.owners = KC_STR("[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"o\",\"uid\":\"2\"}]");
    m.owners_changed = true;
    assert_int_equal(kc__rest_metadata_to_draft(draft, &m, NULL), 0);
    assert_int_equal(kc__draft_is_open(draft), tree);
    const kc_object *frozen = kc__draft_freeze(draft, resource, NULL);
    assert_non_null(frozen);
    return frozen;
}

static void metadata_set_in_tree_and_in_bytes_gives_equal_objects(void **state)
{
    (void)state;
    static const char *const samples[] = {
        MAP,
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','uid':'old','labels':{'a':"
        "'b'},'annotations':{'c':'d'},'finalizers':['x.io/f'],'deletionTimestamp':"
        "'2025-01-01T00:00:00Z','deletionGracePeriodSeconds':5,'generateName':'g-','generation':1,"
        "'managedFields':[{'manager':'me'}],'selfLink':'/x','resourceVersion':'7'}}",
        ("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'m','labels':{},'finalizers':[],"
         "'creationTimestamp':null}}"),
    };
    kc_auto(kc__registry) *kinds = all_kinds();
    for (size_t i = 0; i < KC_COUNT(samples); i++) {
        kc_arena arena = {0};
        kc__draft bytes = {0}, tree = {0};
        kc_auto(kc_object) *object = object_of(samples[i]);
        const kc_object *one = set_metadata(&bytes, object, false, config_maps(kinds), &arena);
        const kc_object *two = set_metadata(&tree, object, true, config_maps(kinds), &arena);
        kc_autofree char *expected = kc_str_dup(kc_object_metadata_json(one));
        assert_str(kc_object_metadata_json(two), expected);
        kc__draft_clear(&bytes);
        kc__draft_clear(&tree);
        kc_arena_done(&arena);
    }
}

/* The value is parsed once; changes of metadata keep it up to date. */
static void value_follows_changes_of_metadata_in_bytes(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of(MAP);
    kc_view *view = kc_view_of(object);
    kc__draft draft = {0};
    kc__draft_set_parsed(&draft, object, view);
    assert_ptr_equal(kc__draft_value(&draft), kc_view_root(view));
    kc__draft_set_managed_fields(&draft, KC_STR("[{\"manager\":\"a\"}]"));
    assert_ptr_equal(kc__draft_value(&draft), kc_view_root(view));
    assert_int_equal(kc__draft_set_metadata(&draft, KC_STR("{\"name\":\"n\",\"uid\":\"u\"}"),
                                            KC_STR("[{\"manager\":\"b\"}]"), NULL),
                     0);
    assert_str(kc_object_json(draft.object),
               "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"n\",\"uid\":"
               "\"u\",\"managedFields\":[{\"manager\":\"b\"}]},\"data\":{\"k\":\"v\"}}");
    kc_auto(kc_view) *parsed = view_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'n','uid':'u'},'data':{'k':'v'}}");
    assert_true(kc_value_equal(kc__draft_value(&draft), kc_view_root(parsed), NULL));
    kc_view *taken = NULL;
    kc_auto(kc_object) *last = kc__draft_take(&draft, &taken);
    assert_str(kc_object_name(last), "n");
    assert_non_null(taken);
    kc_view_free(taken);
    assert_true(kc__draft_is_empty(&draft));
}

TESTS(draft_without_edits_freezes_to_same_object, edits_share_one_tree_until_draft_is_frozen,
      freezing_orders_members_and_drops_unknown_ones, freezing_wrong_type_fails_and_keeps_contents,
      name_falls_back_to_generate_name_in_both_forms,
      managed_fields_are_no_part_of_tree_and_survive_freezing,
      managed_fields_set_in_tree_and_in_bytes_give_equal_objects,
      replaced_draft_forgets_managed_fields, metadata_set_in_tree_and_in_bytes_gives_equal_objects,
      value_follows_changes_of_metadata_in_bytes)
