/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: types by hand and from OpenAPI, validation, comparison, merge, removal. In JSON of this
 * file ' stands for ".
 */
#include "object/fields/fields_typed.h"
#include "testing.h"

/* A kind with each topology. */
static const char definitions[] =
    "{'Thing':{'type':'object','properties':{"
    "'name':{'type':'string'},'count':{'type':'integer'},'on':{'type':'boolean'},"
    "'either':{'x-kubernetes-int-or-string':true},"
    "'atomic':{'type':'object','x-kubernetes-map-type':'atomic','additionalProperties':{'type':'string'}},"
    "'labels':{'type':'object','additionalProperties':{'type':'string'}},"
    "'command':{'type':'array','items':{'type':'string'}},"
    "'set':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}},"
    "'ports':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['port','protocol'],"
    "'items':{'type':'object','properties':{'port':{'type':'integer'},'protocol':{'type':'string','default':'TCP'},"
    "'name':{'type':'string'}}}},"
    "'things':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['name'],"
    "'items':{'$ref':'#/definitions/Thing'}},"
    "'free':{'type':'object','x-kubernetes-preserve-unknown-fields':true},"
    "'child':{'$ref':'#/definitions/Thing'},"
    "'closed':{'allOf':[{'$ref':'#/definitions/Thing'}],'x-kubernetes-map-type':'atomic'}}}}";

typedef struct fixture {
    kc_arena arena;
    kc__fields_types *types;
    const kc__fields_type *type;
    KC_VEC(kc_view *) views;
} fixture;

static int set_up(void **state)
{
    fixture *f = kc_new(fixture);
    kc_auto(kc_view) *view = view_of(definitions);
    f->types = kc__fields_types_new();
    if (kc__fields_types_add_openapi(f->types, kc_view_root(view), NULL, NULL) < 0)
        return -1;
    kc__fields_types_finish(f->types);
    f->type = kc__fields_types_get(f->types, KC_STR("Thing"));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    kc_vec_each (&f->views, view)
        kc_view_free(*view);
    kc_vec_done(&f->views);
    kc__fields_types_free(f->types);
    kc_arena_done(&f->arena);
    free(f);
    return 0;
}

static const kc_value *value(fixture *f, const char *json)
{
    kc_view *view = view_of(json);
    kc_vec_push(&f->views, view);
    return kc_view_root(view);
}

/* The text of a set, with ' for ". */
static const char *text_of(fixture *f, const kc__fields_set *set)
{
    kc_scoped(kc_buf) text = {0};
    kc__fields_v1_write(&text, set);
    char *copy = kc_arena_strndup(&f->arena, text.p, text.n);
    for (char *p = copy; *p; p++)
        if (*p == '"')
            *p = '\'';
    return copy;
}

static const kc__fields_set *set_of(fixture *f, const char *json)
{
    const kc__fields_set *set = NULL;
    char *text = kc_arena_strndup(&f->arena, json, strlen(json));
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    assert_int_equal(kc__fields_v1_read(&f->arena, kc_cstr(text), &set, NULL, NULL), 0);
    return set;
}

#define assert_valid(f, json) \
    assert_int_equal(kc__fields_validate((f)->type, value(f, json), false, NULL), 0)
#define assert_invalid(f, json, message) check_invalid(f, json, message, __FILE__, __LINE__)
static void check_invalid(fixture *f, const char *json, const char *message, const char *file,
                          int line)
{
    kc_scoped(kc_error) err = {0};
    if (kc__fields_validate(f->type, value(f, json), false, &err) == 0) {
        print_error("valid: %s\n", json);
        _fail(file, line);
    }
    kc__assert_str(kc_cstr(kc_error_text(&err)), message, file, line);
}

static void values_of_the_wrong_type_are_reported_in_upstreams_words(void **state)
{
    fixture *f = *state;
    assert_valid(
        f,
        "{'name':null,'count':1.5,'either':'x','child':{'child':{'name':'x'}},'free':{'any':[1]}}");
    assert_invalid(f, "{'name':1}",
                   ".name: expected string, got &value.valueUnstructured{Value:1}");
    assert_invalid(
        f, "{'name':{'a':[true]}}",
        ".name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"a\":[]interface {}{true}}}");
    assert_invalid(f, "{'count':'x'}", ".count: expected numeric (int or float), got string");
    assert_invalid(f, "{'on':1}", ".on: expected boolean, got &{1}");
    assert_invalid(f, "{'command':{}}", ".command: expected list, got &{map[]}");
    assert_invalid(f, "{'labels':'x'}", ".labels: expected map, got &{x}");
    assert_invalid(f, "{'child':{'unknown':1}}", ".child.unknown: field not declared in schema");
    assert_invalid(
        f, "{'name':1,'on':1}",
        "errors:\n  .name: expected string, got &value.valueUnstructured{Value:1}\n  .on: expected boolean, got &{1}");
}

static void duplicates_are_errors_unless_they_are_allowed(void **state)
{
    fixture *f = *state;
    const char *ports =
        "{'ports':[{'port':1},{'port':1,'protocol':'TCP'},{'port':1,'protocol':'UDP'}]}";
    assert_invalid(f, ports, ".ports: duplicate entries for key [port=1,protocol=\"TCP\"]");
    assert_invalid(f, "{'set':['a','b','a']}", ".set: duplicate entries for key [=\"a\"]");
    assert_int_equal(kc__fields_validate(f->type, value(f, ports), true, NULL), 0);
}

static void items_without_keys_are_errors(void **state)
{
    fixture *f = *state;
    assert_invalid(f, "{'ports':[null]}",
                   ".ports: element 0: associative list with keys may not have a null element");
    assert_invalid(f, "{'ports':[1]}",
                   ".ports: element 0: associative list with keys may not have non-map elements");
    assert_invalid(
        f, "{'set':[null]}",
        ".set: element 0: associative list without keys has an element that's an explicit null");
    assert_valid(f, "{'ports':[{'name':'only the default of a key'}]}");
}

static void sets_of_values_have_leaves_items_and_map_members(void **state)
{
    fixture *f = *state;
    const kc_value *v = value(
        f, "{'name':'x','atomic':{'a':'1'},'labels':{'app':'x'},'command':['a'],'set':['b','a'],"
           "'ports':[{'port':80,'name':'http'}],'free':{'x':{'y':1}},'child':{}}");
    assert_string_equal(
        text_of(f, kc__fields_set_of_value(&f->arena, f->type, v)),
        "{'f:atomic':{},'f:child':{},'f:command':{},'f:free':{'f:x':{'.':{},'f:y':{}}},"
        "'f:labels':{'f:app':{}},'f:name':{},'f:ports':{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':"
        "{'.':{},'f:name':{},'f:port':{}}},'f:set':{'v:\\'a\\'':{},'v:\\'b\\'':{}}}");
}

static void comparison_tells_added_removed_and_modified(void **state)
{
    fixture *f = *state;
    kc__fields_comparison all;
    const kc_value *from = value(
        f,
        "{'name':'x','labels':{'a':'1','b':'2'},'ports':[{'port':1},{'port':2}],'command':['a']}");
    const kc_value *to = value(
        f,
        "{'name':'y','labels':{'a':'1','c':'3'},'ports':[{'port':2},{'port':3}],'command':['a']}");
    assert_int_equal(kc__fields_compare(&f->arena, f->type, from, to, &all, NULL), 0);
    assert_string_equal(
        text_of(f, all.added),
        "{'f:labels':{'f:c':{}},'f:ports':{'k:{\\'port\\':3,\\'protocol\\':\\'TCP\\'}':"
        "{'.':{},'f:port':{}}}}");
    assert_string_equal(
        text_of(f, all.removed),
        "{'f:labels':{'f:b':{}},'f:ports':{'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':"
        "{'.':{},'f:port':{}}}}");
    assert_string_equal(text_of(f, all.modified), "{'f:name':{}}");
    assert_int_equal(kc__fields_compare(&f->arena, f->type, from, from, &all, NULL), 0);
    assert_true(!all.added && !all.removed && !all.modified);
}

/* What is in the sets of a comparison, or its error. */
static const char *comparison_text(fixture *f, int failed, const kc__fields_comparison *all,
                                   const kc_error *err)
{
    return failed < 0 ? kc_arena_printf(&f->arena, "%s", kc_error_text(err))
                      : kc_arena_printf(&f->arena, "%s %s %s", text_of(f, all->added),
                                        text_of(f, all->removed), text_of(f, all->modified));
}

static void new_object_is_compared_as_if_it_were_validated_first(void **state)
{
    fixture *f = *state;
    static const char *const objects[] = {
        "{}",
        ("{'name':'x','count':1,'on':true,'either':'5%','labels':{'a':'1'},'command':['a'],'set':['a',"
         "'b'],'ports':[{'port':2},{'port':1,'name':'a'}],'free':{'a':[{}]},'child':{'name':'y'}}"),
        "{'name':null,'count':null,'atomic':null,'labels':null,'set':null,'ports':null,'free':null}",
        "{'name':1}",
        "{'count':'1'}",
        "{'on':{}}",
        "{'either':[]}",
        "{'labels':[]}",
        "{'labels':'x'}",
        "{'labels':{'a':1}}",
        "{'atomic':{'a':1}}",
        "{'command':{}}",
        "{'command':['a',1]}",
        "{'command':'a'}",
        "{'set':['a','a']}",
        "{'set':['a',1]}",
        "{'set':[{}]}",
        "{'ports':[{'port':1},{'port':1,'name':1}]}",
        "{'ports':[{'port':1},{'port':1}]}",
        "{'ports':[{'port':1,'extra':1}]}",
        "{'ports':['a']}",
        "{'ports':[null]}",
        "{'extra':1}",
        "{'extra':{}}",
        "{'child':{'child':{'extra':[]}}}",
        "{'child':{'count':'1'}}",
        "{'closed':{'count':'1'}}",
        "{'closed':{'child':{'count':1}}}",
        "{'free':1}",
        "{'set':['a','b',1]}",
        "{'things':[{'name':'a','count':1},{'name':'b','count':2},{'name':'c','count':'3'}]}",
        "{'things':[{'name':'a','command':['x']},{'name':'b','command':['x',1]}]}",
        "{'things':[{'name':'a','atomic':{'x':'1'}},{'name':'b','atomic':{'x':1}}]}",
        "{'things':[{'name':'a','child':{'on':true}},{'name':'b','child':{'on':1}}]}",
        "{'things':[{'name':'a','extra':1},{'name':'b','extra':1}]}",
        "{'things':[{'name':'a','extra':{}},{'name':'b','extra':{'x':1}}]}",
        "{'things':[{'name':'a'},{'name':'b'},{'count':1},{'count':1}]}",
    };
    static const char *const empties[] = {"{}", "{'name':'','labels':{}}", "{'child':{}}"};
    for (size_t i = 0; i < KC_COUNT(objects) * KC_COUNT(empties); i++) {
        const kc_value *empty = value(f, empties[i % KC_COUNT(empties)]);
        const kc_value *object = value(f, objects[i / KC_COUNT(empties)]);
        kc__fields_comparison expected = {0}, all = {0};
        kc_scoped(kc_error) expected_err = {0}, err = {0};
        int expected_failed = kc__fields_validate(f->type, object, true, &expected_err);
        if (expected_failed == 0)
            expected_failed =
                kc__fields_compare(&f->arena, f->type, empty, object, &expected, &expected_err);
        int failed = kc__fields_compare_new(&f->arena, f->type, empty, object, &all, &err);
        assert_string_equal(comparison_text(f, failed, &all, &err),
                            comparison_text(f, expected_failed, &expected, &expected_err));
    }
}

/* The fields that a new object adds as the items of the list `things`. */
static const kc__fields_set *added_things(fixture *f, const char *items)
{
    kc__fields_comparison all;
    const kc_value *object = value(f, kc_arena_printf(&f->arena, "{'things':[%s]}", items));
    assert_int_equal(kc__fields_compare_new(&f->arena, f->type, value(f, "{}"), object, &all, NULL),
                     0);
    assert_int_equal(all.added->n, 1);
    return all.added->entries[0].child;
}

/* Each item in turn has the name a or b, so that they have an order. */
static void check_items(fixture *f, const char *one, const char *other, bool shared)
{
    const char *a = kc_arena_printf(&f->arena, "{'name':'a',%s}", one);
    const char *b = kc_arena_printf(&f->arena, "{'name':'b',%s}", other);
    const kc__fields_set *set = added_things(f, kc_arena_printf(&f->arena, "%s,%s", a, b));
    const kc__fields_entry *entries = set->entries;
    assert_int_equal(set->n, 2);
    assert_true((entries[0].child == entries[1].child) == shared);
    assert_string_equal(text_of(f, entries[0].child),
                        text_of(f, added_things(f, a)->entries[0].child));
    assert_string_equal(text_of(f, entries[1].child),
                        text_of(f, added_things(f, b)->entries[0].child));
}

static void items_with_the_same_fields_share_their_set(void **state)
{
    fixture *f = *state;
    check_items(f, "'count':1", "'count':2.5", true);
    check_items(f, "'on':false", "'on':true", true);
    check_items(f, "'command':['x']", "'command':['y','z']", true);
    check_items(f, "'labels':{'a':'1','b':'2'}", "'labels':{'a':'3','b':'4'}", true);
    check_items(f, "'atomic':{'a':'1'}", "'atomic':{'b':'2','c':'3'}", true);
    check_items(f, "'child':{'name':'x'},'count':1", "'child':{'name':'y'},'count':2", true);
    check_items(f, "'ports':[],'count':1", "'ports':[],'count':2", true);
    check_items(f, "'count':1", "'count':null", false);
    check_items(f, "'count':1", "'on':true", false);
    check_items(f, "'count':1", "'count':1,'on':true", false);
    check_items(f, "'count':1,'on':true", "'on':true,'count':1", false);
    check_items(f, "'labels':{'a':'1'}", "'labels':{'b':'1'}", false);
    check_items(f, "'labels':{}", "'labels':{'a':'1'}", false);
    check_items(f, "'labels':null", "'labels':{}", false);
    check_items(f, "'child':{'name':'x'}", "'child':{'count':1}", false);
    check_items(f, "'ports':[{'port':1}]", "'ports':[{'port':2}]", false);
    check_items(f, "'set':['x']", "'set':['y']", false);
    check_items(f, "'set':[]", "'set':['x']", false);
}

static void text_of_shared_sets_is_that_of_each_item(void **state)
{
    fixture *f = *state;
    assert_string_equal(
        text_of(f, added_things(f, "{'name':'c','child':{'on':true}},{'name':'a','count':1},"
                                   "{'name':'b','count':2},{'name':'d','child':{'on':false}}")),
        "{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:count':{},'f:name':{}},"
        "'k:{\\'name\\':\\'b\\'}':{'.':{},'f:count':{},'f:name':{}},"
        "'k:{\\'name\\':\\'c\\'}':{'.':{},'f:child':{'.':{},'f:on':{}},'f:name':{}},"
        "'k:{\\'name\\':\\'d\\'}':{'.':{},'f:child':{'.':{},'f:on':{}},'f:name':{}}}");
}

static void items_are_sorted_by_their_key_whatever_its_type(void **state)
{
    fixture *f = *state;
    const char *items = "{'name':'b'},{'name':true},{'name':'aaaaaaaab'},{'name':10},{'name':''},"
                        "{'name':'aaaaaaaa'},{'name':9.5},{'name':'aaaaaaaaa'},{'name':'B'},"
                        "{'name':'b','on':true},{'name':'éa'}";
    const kc_value *object = value(f, kc_arena_printf(&f->arena, "{'things':[%s]}", items));
    assert_string_equal(
        text_of(f, kc__fields_set_of_value(&f->arena, f->type, object)),
        "{'f:things':{'k:{\\'name\\':9.5}':{'.':{},'f:name':{}},'k:{\\'name\\':10}':{'.':{},"
        "'f:name':{}},'k:{\\'name\\':\\'\\'}':{'.':{},'f:name':{}},'k:{\\'name\\':\\'B\\'}':{'.':{"
        "},'f:name':{}},'k:{\\'name\\':\\'aaaaaaaa\\'}':{'.':{},'f:name':{}},'k:{\\'name\\':"
        "\\'aaaaaaaaa\\'}':{'.':{},'f:name':{}},'k:{\\'name\\':\\'aaaaaaaab\\'}':{'.':{},'f:name':{}"
        "},'k:{\\'name\\':\\'b\\'}':{},'k:{\\'name\\':\\'éa\\'}':{'.':{},'f:name':{}},"
        "'k:{\\'name\\':true}':{'.':{},'f:name':{}}}}");
}

static void merge_keeps_what_the_configuration_does_not_have(void **state)
{
    fixture *f = *state;
    const kc_value *live =
        value(f, "{'name':'x','labels':{'a':'1'},'command':['a','b'],'atomic':{'a':'1'}}");
    const kc_value *config =
        value(f, "{'labels':{'b':'2'},'command':['c'],'atomic':{'b':'2'},'count':1}");
    assert_value_json(
        kc__fields_merge(&f->arena, f->type, live, config, NULL),
        "{\"name\":\"x\",\"labels\":{\"a\":\"1\",\"b\":\"2\"},\"command\":[\"c\"],\"atomic\":{\"b\":\"2\"},\"count\":1}");
}

static void merge_that_changes_nothing_returns_the_live_object(void **state)
{
    fixture *f = *state;
    const kc_value *live = value(
        f,
        "{'name':'x','set':['a','b'],'ports':[{'port':1,'name':'a'}],'atomic':{'a':'1','b':'2'}}");
    const kc_value *config =
        value(f, "{'atomic':{'b':'2','a':'1'},'set':['b'],'ports':[{'port':1}],'labels':null}");
    const kc_value *same =
        value(f, "{'atomic':{'b':'2','a':'1'},'set':['b'],'ports':[{'port':1}]}");
    assert_ptr_not_equal(kc__fields_merge(&f->arena, f->type, live, config, NULL), live);
    assert_ptr_equal(kc__fields_merge(&f->arena, f->type, live, same, NULL), live);
}

static void lists_merge_in_the_order_of_the_configuration(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *live, *config, *merged;
    } cases[] = {
        {"{'set':['a','b','c','d']}", "{'set':['c','x','a']}",
         "{\"set\":[\"b\",\"c\",\"d\",\"x\",\"a\"]}"},
        {"{'set':['a','b']}", "{'set':['c']}", "{\"set\":[\"a\",\"b\",\"c\"]}"},
        {"{'set':['a','b','c']}", "{'set':['c','b','a']}", "{\"set\":[\"c\",\"b\",\"a\"]}"},
        {"{'set':['a','a','b']}", "{'set':['a']}", "{\"set\":[\"a\",\"b\"]}"},
        {"{'ports':[{'port':1,'name':'x'}]}", "{'ports':[{'port':2},{'port':1,'protocol':'TCP'}]}",
         "{\"ports\":[{\"port\":2},{\"port\":1,\"name\":\"x\",\"protocol\":\"TCP\"}]}"}};
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_value_json(kc__fields_merge(&f->arena, f->type, value(f, cases[i].live),
                                           value(f, cases[i].config), NULL),
                          cases[i].merged);
}

static void removal_drops_fields_and_what_is_in_them(void **state)
{
    fixture *f = *state;
    const kc_value *v = value(
        f,
        "{'name':'x','labels':{'a':'1'},'ports':[{'port':1,'name':'n'},{'port':2}],'child':{'name':'y'}}");
    const kc__fields_set *set = set_of(
        f, "{'f:labels':{'f:a':{}},'f:ports':{'k:{\\'port\\':2,\\'protocol\\':\\'TCP\\'}':{},"
           "'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':{'f:name':{}}},'f:child':{}}");
    assert_value_json(kc__fields_remove(&f->arena, f->type, v, set),
                      "{\"name\":\"x\",\"labels\":null,\"ports\":[{\"port\":1}]}");
    assert_value_json(
        kc__fields_extract(&f->arena, f->type, v, set),
        "{\"labels\":{\"a\":\"1\"},\"ports\":[{\"name\":\"n\"},null],\"child\":null}");
}

static void sets_follow_a_change_to_an_atomic_type(void **state)
{
    fixture *f = *state;
    const kc__fields_set *old =
        set_of(f, "{'f:atomic':{'f:a':{}},'f:command':{'v:\\'a\\'':{}},'f:labels':{'f:a':{}},"
                  "'f:closed':{'f:name':{}},'f:free':{'f:x':{'f:y':{}}}}");
    assert_string_equal(
        text_of(f, kc__fields_reconcile(&f->arena, f->type, old)),
        "{'f:atomic':{},'f:closed':{},'f:command':{},'f:free':{'f:x':{'f:y':{}}},'f:labels':{'f:a':{}}}");
    const kc__fields_set *new = set_of(f, "{'f:atomic':{},'f:labels':{'f:a':{}}}");
    assert_ptr_equal(kc__fields_reconcile(&f->arena, f->type, new), new);
}

static void named_fields_with_paths_below_become_members(void **state)
{
    fixture *f = *state;
    assert_string_equal(
        text_of(f,
                kc__fields_ensure_named(
                    &f->arena, f->type,
                    set_of(f, "{'f:child':{'f:labels':{'f:a':{}}},'f:free':{'f:x':{'f:y':{}}}}"))),
        "{'f:child':{'.':{},'f:labels':{'.':{},'f:a':{}}},'f:free':{'.':{},'f:x':{'f:y':{}}}}");
}

static void types_made_by_hand_work_as_those_of_openapi(void **state)
{
    (void)state;
    kc_arena arena = {0};
    kc_auto(kc__fields_types) *types = kc__fields_types_new();
    kc__fields_type *item = kc__fields_type_new(types, KC_STR("Item"));
    kc__fields_type *list = kc__fields_type_new(types, (kc_str){0});
    kc__fields_type *root = kc__fields_type_new(types, KC_STR("Root"));
    const kc__fields_type *string = kc__fields_scalar_type(types, KC__FIELDS_STRING);
    kc_auto(kc_view) *tcp = view_of("'TCP'");
    kc__fields_type_set_object(item, NULL, KC__FIELDS_GRANULAR);
    kc__fields_type_add_field(types, item, KC_STR("name"), string, kc_view_root(tcp));
    kc__fields_type_add_field(types, item, KC_STR("self"), root, NULL);
    kc__fields_type_set_list(list, item, KC__FIELDS_ASSOCIATIVE);
    kc__fields_type_add_key(types, list, KC_STR("name"));
    kc__fields_type_set_object(root, NULL, KC__FIELDS_GRANULAR);
    kc__fields_type_add_field(types, root, KC_STR("items"), list, NULL);
    kc__fields_types_finish(types);
    kc_auto(kc_view) *v = view_of("{'items':[{'self':{'items':[{'name':'a'}]}}]}");
    const kc__fields_type *type = kc__fields_types_get(types, KC_STR("Root"));
    assert_int_equal(kc__fields_validate(type, kc_view_root(v), false, NULL), 0);
    kc_scoped(kc_buf) text = {0};
    kc__fields_v1_write(&text, kc__fields_set_of_value(&arena, type, kc_view_root(v)));
    assert_str(kc_buf_str(&text),
               "{\"f:items\":{\"k:{\\\"name\\\":\\\"TCP\\\"}\":{\".\":{},\"f:self\":{\"f:items\":"
               "{\"k:{\\\"name\\\":\\\"a\\\"}\":{\".\":{},\"f:name\":{}}}}}}}");
    kc_arena_done(&arena);
}

static void custom_resources_have_metadata_everywhere_resources_are_embedded(void **state)
{
    (void)state;
    kc_auto(kc__fields_types) *types = kc__fields_types_new();
    kc_auto(kc_view) *schema =
        view_of("{'type':'object','properties':{'template':{'type':'object',"
                "'x-kubernetes-embedded-resource':true,'properties':{'spec':{'type':'object'}}}}}");
    kc__fields_type *meta = kc__fields_type_new(types, KC_STR("Meta"));
    kc__fields_openapi_opts opts = {.metadata = KC_STR("Meta")};
    kc__fields_type_set_object(meta, NULL, KC__FIELDS_GRANULAR);
    kc__fields_type_add_field(types, meta, KC_STR("name"),
                              kc__fields_scalar_type(types, KC__FIELDS_STRING), NULL);
    assert_int_equal(
        kc__fields_types_add_custom(types, KC_STR("Thing"), kc_view_root(schema), &opts, NULL), 0);
    kc__fields_types_finish(types);
    kc_auto(kc_view) *v = view_of(
        "{'kind':'Thing','metadata':{'name':'a'},'template':{'kind':'X','metadata':{'name':'b'}}}");
    assert_int_equal(kc__fields_validate(kc__fields_types_get(types, KC_STR("Thing")),
                                         kc_view_root(v), false, NULL),
                     0);
    kc_auto(kc_view) *bad = view_of("{'template':{'metadata':{'unknown':1}}}");
    assert_true(kc__fields_validate(kc__fields_types_get(types, KC_STR("Thing")), kc_view_root(bad),
                                    false, NULL) < 0);
}

static void schemas_that_upstream_refuses_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{'T':{'type':'array'}}", "T: `items` must be specified on arrays"},
        {"{'T':{'type':'what'}}", "T: unrecognized type: 'what'"},
        {"{'T':{'type':'object','properties':{'a':{'type':'array','items':{},'x-kubernetes-list-type':'map'}}}}",
         "inlined in T: missing map keys"},
        {"{'T':{'type':'object','x-kubernetes-map-type':'odd'}}", "T: unknown map type odd"}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc__fields_types) *types = kc__fields_types_new();
        kc_auto(kc_view) *view = view_of(cases[i].json);
        assert_true(kc__fields_types_add_openapi(types, kc_view_root(view), NULL, &err) < 0);
        assert_string_equal(kc_error_text(&err), cases[i].message);
    }
}

/* A check that is repeated on each level would take forever. */
static void an_error_in_deeply_nested_lists_is_found_in_time(void **state)
{
    (void)state;
    enum { DEPTH = 200 };
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__fields_types) *types = kc__fields_types_new();
    kc_auto(kc_view) *schema = view_of(
        "{'T':{'type':'object','properties':{'n':{'type':'string'},'l':{'type':'array',"
        "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['n'],'items':{'$ref':'#/definitions/T'}}}}}");
    assert_int_equal(kc__fields_types_add_openapi(types, kc_view_root(schema), NULL, NULL), 0);
    kc__fields_types_finish(types);
    for (int i = 0; i < DEPTH; i++)
        kc_buf_puts(&json, "{'n':'a','l':[");
    kc_buf_puts(&json, "{'n':'a','l':1}");
    for (int i = 0; i < DEPTH; i++)
        kc_buf_puts(&json, "]}");
    kc_auto(kc_view) *v = view_of(kc_buf_cstr(&json));
    assert_true(kc__fields_validate(kc__fields_types_get(types, KC_STR("T")), kc_view_root(v),
                                    false, &err) < 0);
    assert_contains(kc_error_text(&err), ".l[n=\"a\"].l[n=\"a\"].l: expected list, got &{1}");
}

/* Quadratic work would take minutes. */
static void long_associative_lists_merge_in_time(void **state)
{
    fixture *f = *state;
    enum { N = 10000 };
    kc_scoped(kc_buf) live = {0};
    kc_scoped(kc_buf) config = {0};
    kc__fields_comparison all;
    for (int i = 0; i < N; i++) {
        kc_buf_printf(&live, "%s{'port':%d,'name':'a'}", i ? "," : "{'ports':[", i);
        kc_buf_printf(&config, "%s{'port':%d,'name':'b'}", i ? "," : "{'ports':[", (N - i) * 2);
    }
    kc_buf_puts(&live, "]}");
    kc_buf_puts(&config, "]}");
    const kc_value *a = value(f, kc_buf_cstr(&live)), *b = value(f, kc_buf_cstr(&config));
    const kc_value *merged = kc__fields_merge(&f->arena, f->type, a, b, NULL);
    assert_int_equal(kc_value_len(kc_value_get(merged, "ports")), N + N / 2 + 1);
    assert_int_equal(kc__fields_compare(&f->arena, f->type, a, merged, &all, NULL), 0);
    assert_int_equal(kc__fields_validate(f->type, merged, false, NULL), 0);
}

#define IN_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {KC__EACH(
        IN_FIXTURE, values_of_the_wrong_type_are_reported_in_upstreams_words,
        duplicates_are_errors_unless_they_are_allowed, items_without_keys_are_errors,
        sets_of_values_have_leaves_items_and_map_members,
        comparison_tells_added_removed_and_modified,
        new_object_is_compared_as_if_it_were_validated_first,
        items_with_the_same_fields_share_their_set, text_of_shared_sets_is_that_of_each_item,
        items_are_sorted_by_their_key_whatever_its_type,
        merge_keeps_what_the_configuration_does_not_have,
        merge_that_changes_nothing_returns_the_live_object,
        lists_merge_in_the_order_of_the_configuration, removal_drops_fields_and_what_is_in_them,
        sets_follow_a_change_to_an_atomic_type, named_fields_with_paths_below_become_members,
        types_made_by_hand_work_as_those_of_openapi,
        custom_resources_have_metadata_everywhere_resources_are_embedded,
        schemas_that_upstream_refuses_are_refused, an_error_in_deeply_nested_lists_is_found_in_time,
        long_associative_lists_merge_in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
