/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.c: what applies and updates do to an object and to its managedFields. In JSON of this
 * file ' stands for ".
 */
#include "base/work.h"
#include "object/fields/fields_managed.h"
#include "testing.h"

static const char definitions[] =
    "{'Thing':{'type':'object','properties':{'apiVersion':{'type':'string'},'kind':{'type':'string'},"
    "'metadata':{'type':'object','properties':{'name':{'type':'string'},'labels':{'type':'object',"
    "'additionalProperties':{'type':'string'}}}},"
    "'spec':{'type':'object','properties':{'replicas':{'type':'integer'},'image':{'type':'string'},'list':{'type':'array',"
    "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['name'],'items':{'type':'object','properties':{"
    "'name':{'type':'string'},'value':{'type':'string'},'default':{'type':'string'}}}}}}}}}";

/* An object with its owners, as a server stores it. */
typedef struct world {
    kc_arena arena;
    kc__fields_types *types;
    const kc__fields_type *type;
    kc_buf object; /* Without managedFields. */
    kc_buf owners; /* managedFields. */
    kc_error err;
    const char *now;
    unsigned changes;
} world;

static const kc__fields_updater plain_updater;

static int set_up(void **state)
{
    world *w = kc_new(world);
    kc_auto(kc_view) *view = view_of(definitions);
    w->types = kc__fields_types_new();
    if (kc__fields_types_add_openapi(w->types, kc_view_root(view), NULL, NULL) < 0)
        return -1;
    kc__fields_types_finish(w->types);
    w->type = kc__fields_types_get(w->types, KC_STR("Thing"));
    w->now = "2026-01-01T00:00:00Z";
    kc_buf_puts(&w->object, "{\"apiVersion\":\"v1\"}");
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    kc__fields_types_free(w->types);
    kc_arena_done(&w->arena);
    kc_buf_done(&w->object);
    kc_buf_done(&w->owners);
    kc_error_done(&w->err);
    free(w);
    return 0;
}

/* An object with its apiVersion, which no manager owns: no object becomes empty. */
static kc_view *versioned(const char *json)
{
    kc_auto(kc_edit) *edit = edit_of(json);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("apiVersion"), kc_node_str(edit, KC_STR("v1")));
    return kc_edit_view(edit, NULL);
}

/* Writes an object: 0, or negative with w->err set. */
static int write_object(world *w, const char *manager, const char *json, bool apply, bool force)
{
    kc_auto(kc_view) *live = kc_view_parse(kc_buf_str(&w->object), NULL, NULL),
                     *view = versioned(json);
    kc__fields_managed managed = {.arena = &w->arena};
    kc__fields_request request = {.updater = &plain_updater,
                                  .live = {kc_view_root(live), w->type, KC_STR("v1")},
                                  .object = {kc_view_root(view), w->type, KC_STR("v1")},
                                  .manager = kc_cstr(manager),
                                  .now = kc_cstr(w->now),
                                  .force = force};
    const kc_value *value = apply ? NULL : kc_view_root(view);
    kc_scoped(kc_buf) object = {0};
    kc_error_done(&w->err);
    assert_int_equal(kc__fields_managed_read(&managed, kc_buf_str(&w->owners), &w->err), 0);
    int failed = apply ? kc__fields_managed_apply(&managed, &request, &value, &w->err)
                       : kc__fields_managed_update(&managed, &request, &w->err);
    if (failed == 0 && value) {
        kc_json_write(&object, value);
        kc_buf_clear(&w->object);
        kc_buf_append(&w->object, kc_buf_str(&object));
        w->changes++;
    }
    if (failed == 0) {
        kc_scoped(kc_buf) owners = {0};
        kc__fields_managed_write(&owners, &managed);
        kc_buf_clear(&w->owners);
        kc_buf_append(&w->owners, kc_buf_str(&owners));
    }
    kc__fields_managed_done(&managed);
    return failed;
}

#define apply(w, manager, json) assert_int_equal(write_object(w, manager, json, true, false), 0)
#define apply_force(w, manager, json) \
    assert_int_equal(write_object(w, manager, json, true, true), 0)
#define update(w, manager, json) assert_int_equal(write_object(w, manager, json, false, false), 0)

/* "manager operation time fields" of each entry, with ' for ". */
#define assert_owners(w, text) check_owners(w, text, __FILE__, __LINE__)
static void check_owners(world *w, const char *expected, const char *file, int line)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&w->owners), NULL, NULL);
    kc_value_each_item (kc_view_root(view), entry) {
        kc_buf_printf(&text, "%s %s %.4s ", kc_value_as_cstr(kc_value_get(entry, "manager"), ""),
                      kc_value_as_cstr(kc_value_get(entry, "operation"), ""),
                      kc_value_as_cstr(kc_value_get(entry, "time"), "none"));
        kc_json_write(&text, kc_value_get(entry, "fieldsV1"));
        kc_buf_putc(&text, '\n');
    }
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '"')
            text.p[i] = '\'';
    kc__assert_str(kc_buf_str(&text), expected, file, line);
}

#define assert_object(w, json) check_object_is(w, json, __FILE__, __LINE__)
static void check_object_is(world *w, const char *json, const char *file, int line)
{
    kc_auto(kc_view) *expected = versioned(json),
                     *actual = kc_view_parse(kc_buf_str(&w->object), NULL, NULL);
    if (kc__fields_equal(kc_view_root(expected), kc_view_root(actual)))
        return;
    print_error("%s\n", kc_buf_cstr(&w->object));
    _fail(file, line);
}

static void an_applier_owns_the_fields_of_its_configuration(void **state)
{
    world *w = *state;
    apply(
        w, "a",
        "{'apiVersion':'v1','kind':'Thing','metadata':{'name':'x','labels':{'app':'x'}},'spec':{'replicas':1}}");
    assert_owners(
        w, "a Apply 2026 {'f:metadata':{'f:labels':{'f:app':{}}},'f:spec':{'f:replicas':{}}}\n");
}

static void fields_that_an_applier_gives_up_are_removed(void **state)
{
    world *w = *state;
    apply(w, "a",
          "{'metadata':{'labels':{'app':'x','tier':'y'}},'spec':{'replicas':1,'image':'i'}}");
    apply(w, "a", "{'metadata':{'labels':{'app':'x'}},'spec':{'image':'i'}}");
    assert_object(w, "{'metadata':{'labels':{'app':'x'}},'spec':{'image':'i'}}");
}

static void field_dropped_by_one_manager_stays_if_another_owns_it(void **state)
{
    world *w = *state;
    apply(w, "a", "{'metadata':{'labels':{'app':'x'}},'spec':{'replicas':1,'image':'i'}}");
    apply(w, "b", "{'spec':{'replicas':1}}");
    apply(w, "a", "{'metadata':{'labels':{'app':'x'}},'spec':{'image':'i'}}");
    assert_object(w, "{'metadata':{'labels':{'app':'x'}},'spec':{'replicas':1,'image':'i'}}");
    assert_owners(
        w, "b Apply none {'f:spec':{'f:replicas':{}}}\n"
           "a Apply 2026 {'f:metadata':{'f:labels':{'f:app':{}}},'f:spec':{'f:image':{}}}\n");
}

static void items_keep_unowned_fields_until_they_are_given_up(void **state)
{
    world *w = *state;
    apply(
        w, "a",
        "{'metadata':{'labels':{'app':'x'}},'spec':{'list':[{'name':'1','value':'v'},{'name':'2'}]}}");
    kc_buf_clear(&w->object); /* The server sets defaults, which have no owner. */
    kc_buf_puts(
        &w->object,
        "{\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"list\":[{\"name\":\"1\",\"value\":\"v\","
        "\"default\":\"d\"},{\"name\":\"2\",\"default\":\"d\"}]}}");
    apply(w, "a", "{'metadata':{'labels':{'app':'x'}},'spec':{'list':[{'name':'1'}]}}");
    assert_object(
        w, "{'metadata':{'labels':{'app':'x'}},'spec':{'list':[{'name':'1','default':'d'}]}}");
}

/* The branches that an applier gives up nothing of keep what has no owner. */
static void giving_up_a_field_leaves_other_branches_alone(void **state)
{
    world *w = *state;
    apply(w, "one",
          "{'metadata':{'name':'n','labels':{'a':'1','b':'2'}},'spec':{'replicas':1,'image':'i',"
          "'list':[{'name':'x','value':'1'},{'name':'y'}]}}");
    update(w, "server",
           "{'metadata':{'name':'n','labels':{'a':'1','b':'2','s':'3'}},'spec':{'replicas':1,"
           "'image':'i','list':[{'name':'x','value':'1','default':'d'},{'name':'y'}]}}");
    apply(w, "one",
          "{'metadata':{'name':'n','labels':{'a':'1'}},'spec':{'replicas':1,'image':'i','list':[{"
          "'name':'x','value':'1'},{'name':'y'}]}}");
    assert_object(w, "{'metadata':{'name':'n','labels':{'a':'1','s':'3'}},'spec':{'replicas':1,"
                     "'image':'i','list':[{'name':'x','value':'1','default':'d'},{'name':'y'}]},"
                     "'apiVersion':'v1'}");
    apply(w, "one",
          "{'metadata':{'name':'n','labels':{'a':'1'}},'spec':{'replicas':1,'list':[{'name':'x',"
          "'value':'1'}]}}");
    assert_object(w, "{'metadata':{'name':'n','labels':{'a':'1','s':'3'}},'spec':{'replicas':1,"
                     "'list':[{'name':'x','value':'1','default':'d'}]},'apiVersion':'v1'}");
    apply(w, "two", "{'spec':{'list':[{'name':'z','value':'1'}]}}");
    apply(
        w, "one",
        "{'metadata':{'name':'n','labels':{'a':'1'}},'spec':{'replicas':1,'list':[{'name':'x'}]}}");
    assert_object(w, "{'metadata':{'name':'n','labels':{'a':'1','s':'3'}},'spec':{'replicas':1,"
                     "'list':[{'name':'x','default':'d'},{'name':'z','value':'1'}]},"
                     "'apiVersion':'v1'}");
}

/* An object without a member that stays is pruned as a whole. */
static void object_of_which_everything_is_given_up_is_removed(void **state)
{
    world *w = *state;
    apply(w, "one",
          "{'metadata':{'name':'n','labels':{'a':'1','b':'2'}},'spec':{'replicas':1,'image':'i'}}");
    apply(w, "one", "{'metadata':{'name':'n'},'spec':{'replicas':1}}");
    assert_object(w, "{'metadata':{'name':'n'},'spec':{'replicas':1},'apiVersion':'v1'}");
    apply(w, "one", "{'metadata':{'name':'n','labels':{'c':'1'}}}");
    assert_object(w, "{'metadata':{'name':'n','labels':{'c':'1'}},'apiVersion':'v1'}");
}

static void changing_a_field_of_another_manager_is_a_conflict(void **state)
{
    world *w = *state;
    apply(w, "a", "{'spec':{'replicas':1,'image':'i'}}");
    assert_int_equal(write_object(w, "b", "{'spec':{'replicas':2}}", true, false),
                     -(int)KC_CONFLICT);
    assert_string_equal(kc_error_text(&w->err),
                        "Apply failed with 1 conflict: conflict with \"a\": .spec.replicas");
    assert_int_equal(w->err.causes.n, 1);
    assert_string_equal(w->err.causes.items[0].reason, "FieldManagerConflict");
    assert_string_equal(w->err.causes.items[0].field, ".spec.replicas");
    assert_string_equal(w->err.causes.items[0].message, "conflict with \"a\"");
}

static void conflicts_with_several_managers_are_grouped_by_manager(void **state)
{
    world *w = *state;
    apply(w, "a", "{'spec':{'replicas':1}}");
    update(w, "u", "{'spec':{'replicas':1,'image':'i','list':[{'name':'x'}]}}");
    assert_true(write_object(w, "b", "{'spec':{'replicas':2,'image':'j'}}", true, false) < 0);
    assert_string_equal(kc_error_text(&w->err),
                        "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.replicas\n"
                        "conflicts with \"u\" using v1:\n- .spec.image");
}

static void force_takes_the_field(void **state)
{
    world *w = *state;
    apply(w, "a", "{'spec':{'replicas':1,'image':'i'}}");
    apply_force(w, "b", "{'spec':{'replicas':2}}");
    assert_owners(
        w, "a Apply 2026 {'f:spec':{'f:image':{}}}\nb Apply 2026 {'f:spec':{'f:replicas':{}}}\n");
}

static void an_update_owns_what_it_changes(void **state)
{
    world *w = *state;
    apply(w, "a", "{'spec':{'replicas':1,'image':'i'}}");
    w->now = "2027-01-01T00:00:00Z";
    update(w, "u", "{'spec':{'replicas':2,'image':'i'}}");
    assert_owners(
        w, "a Apply 2026 {'f:spec':{'f:image':{}}}\nu Update 2027 {'f:spec':{'f:replicas':{}}}\n");
    update(w, "u", "{'spec':{'image':'i'}}");
    assert_owners(w, "a Apply 2026 {'f:spec':{'f:image':{}}}\n");
}

static void writes_that_change_nothing_keep_entries_and_times(void **state)
{
    world *w = *state;
    apply(w, "a", "{'spec':{'replicas':1}}");
    update(w, "u", "{'spec':{'replicas':1,'image':'i'}}");
    unsigned before = w->changes;
    w->now = "2027-01-01T00:00:00Z";
    apply(w, "a", "{'spec':{'replicas':1}}");
    assert_int_equal(w->changes, before);
    update(w, "u", "{'spec':{'replicas':1,'image':'i'}}");
    update(w, "other", "{'spec':{'replicas':1,'image':'i'}}");
    assert_owners(
        w, "a Apply 2026 {'f:spec':{'f:replicas':{}}}\nu Update 2026 {'f:spec':{'f:image':{}}}\n");
}

static void a_null_of_the_configuration_is_owned(void **state)
{
    world *w = *state;
    apply(w, "a", "{'spec':{'replicas':null,'image':'i'}}");
    assert_object(w, "{'spec':{'replicas':null,'image':'i'}}");
    assert_owners(w, "a Apply 2026 {'f:spec':{'f:image':{},'f:replicas':{}}}\n");
}

static void the_oldest_updates_become_ancient_changes(void **state)
{
    world *w = *state;
    kc_scoped(kc_buf) labels = {0};
    for (int i = 0; i < 13; i++) {
        kc_scoped(kc_buf) json = {0};
        kc_buf_printf(&labels, "%s'l%02d':'x'", i ? "," : "", i);
        kc_buf_printf(&json, "{'metadata':{'labels':{%s}},'spec':{}}", kc_buf_cstr(&labels));
        char now[] = "2026-01-01T00:00:00Z", manager[] = "u00";
        now[17] = (char)('0' + i / 10), now[18] = (char)('0' + i % 10);
        manager[1] = now[17], manager[2] = now[18];
        w->now = now;
        update(w, manager, kc_buf_cstr(&json));
    }
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&w->owners), NULL, NULL);
    const kc_value *first = kc_value_at(kc_view_root(view), 0);
    assert_int_equal(kc_value_len(kc_view_root(view)), KC__FIELDS_MAX_UPDATERS);
    assert_string_equal(kc_value_as_cstr(kc_value_get(first, "manager"), ""), "ancient-changes");
    assert_string_equal(kc_value_as_cstr(kc_value_get(first, "time"), ""), "2026-01-01T00:00:03Z");
    assert_value_json(
        kc_value_get(first, "fieldsV1"),
        "{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:l00\":{},\"f:l01\":{},\"f:l02\":{},\"f:l03\":{}}},\"f:spec\":{}}");
}

static void entries_that_are_not_valid_are_refused(void **state)
{
    world *w = *state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[{'manager':'a','operation':'Delete'}]", "operation must be `Apply` or `Update`"},
        {"[{'manager':'a','operation':'Apply'}]", "apiVersion must not be empty"},
        {"[{'operation':'Apply','apiVersion':'v1'}]",
         "missing fieldsType in managed fields entry 0"},
        {"[{'operation':'Apply','apiVersion':'v1','fieldsType':'X'}]",
         "invalid fieldsType \"X\" in managed fields entry 0"},
        {"[{'operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'a':{}}}]",
         "error decoding set: parsing key as path element: key must be 2 characters long:"}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__fields_managed managed = {.arena = &w->arena};
        kc_auto(kc_view) *view = view_of(cases[i].json);
        kc_scoped(kc_buf) text = {0};
        kc_json_write(&text, kc_view_root(view));
        kc_error_done(&w->err);
        assert_int_equal(kc__fields_managed_read(&managed, kc_buf_str(&text), &w->err),
                         -(int)KC_BAD_REQUEST);
        assert_string_equal(kc_error_text(&w->err), cases[i].message);
        kc__fields_managed_done(&managed);
    }
    assert_true(kc__fields_managed_is_reset(KC_STR("[]")) &&
                kc__fields_managed_is_reset(KC_STR("[{}]")));
    assert_false(kc__fields_managed_is_reset((kc_str){0}));
}

static void the_last_of_entries_with_one_identity_counts(void **state)
{
    world *w = *state;
    kc_buf_puts(
        &w->owners,
        "[{\"manager\":\"a\",\"operation\":\"Apply\",\"apiVersion\":\"v0\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:x\":{}}},"
        "{\"manager\":\"a\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{}}}]");
    kc__fields_managed managed = {.arena = &w->arena};
    assert_int_equal(kc__fields_managed_read(&managed, kc_buf_str(&w->owners), NULL), 0);
    assert_int_equal(managed.owners.n, 1);
    assert_str(managed.owners.items[0].version, "v1");
    assert_str(managed.owners.items[0].id, "{\"manager\":\"a\",\"operation\":\"Apply\"}");
    kc__fields_managed_done(&managed);
}

static void an_object_is_taken_apart_into_owners_and_the_rest(void **state)
{
    world *w = *state;
#define ENTRY \
    "[{'manager':'a','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{}}}]"
    static const struct {
        const char *json, *rest;
        size_t owners;
    } cases[] = {
        {"{'metadata':{'managedFields':" ENTRY ",'name':'x'},'spec':{}}",
         "{'metadata':{'name':'x'},'spec':{}}", 1},
        {"{'metadata':{'name':'x','managedFields':" ENTRY "}}", "{'metadata':{'name':'x'}}", 1},
        {"{'metadata':{'a':[{'managedFields':1}],'managedFields':" ENTRY ",'z':1}}",
         "{'metadata':{'a':[{'managedFields':1}],'z':1}}", 1},
        {"{'metadata':{'managedFields':" ENTRY "}}", "{'metadata':{}}", 1},
        {"{'metadata':{'managedFields':[],'n':1}}", "{'metadata':{'n':1}}", 0},
        {"{'metadata':{'managedFields':null}}", "{'metadata':{}}", 0},
        {"{'metadata':{'name':'x'}}", "{'metadata':{'name':'x'}}", 0},
        {"{'spec':{}}", "{'spec':{}}", 0}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__fields_managed managed = {.arena = &w->arena};
        kc_auto(kc_object) *object = object_of(cases[i].json);
        kc_auto(kc_view) *rest = view_of(cases[i].rest),
                         *view = kc__fields_managed_take(&managed, object, NULL);
        assert_non_null(view);
        if (!kc__fields_equal(kc_view_root(view), kc_view_root(rest)))
            fail_msg("%s", cases[i].json);
        assert_int_equal(managed.owners.n, cases[i].owners);
        kc__fields_managed_done(&managed);
    }
}

static void fields_that_a_request_cannot_own_are_ignored(void **state)
{
    world *w = *state;
    static const char *const only[] = {"spec.image"};
    kc__fields_ignored ignored = {.version = KC_STR("v1"), .only = only, .n_only = 1};
    kc__fields_updater updater = {.ignored = &ignored, .n_ignored = 1};
    kc_auto(kc_view) *live = view_of("{'apiVersion':'v1'}"),
                     *config = view_of("{'apiVersion':'v1','spec':{'replicas':1,'image':'i'}}");
    kc__fields_managed managed = {.arena = &w->arena};
    kc__fields_request request = {.updater = &updater,
                                  .live = {kc_view_root(live), w->type, KC_STR("v1")},
                                  .object = {kc_view_root(config), w->type, KC_STR("v1")},
                                  .now = kc_cstr(w->now)};
    const kc_value *value;
    assert_int_equal(kc__fields_managed_apply(&managed, &request, &value, NULL), 0);
    kc__fields_managed_write(&w->owners, &managed);
    assert_owners(w, "unknown Apply 2026 {'f:spec':{'f:image':{}}}\n");
    kc__fields_managed_done(&managed);
}

/* A client can apply under any number of names, and write any entries. Quadratic work would take
 * minutes. */
static void thousands_of_entries_are_handled_in_time(void **state)
{
    world *w = *state;
    enum { N = 8000 };
    kc_buf_clear(&w->object);
    kc_buf_puts(&w->object, "{\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{");
    for (int i = 0; i < N; i++) {
        kc_buf_printf(&w->object, "%s\"l%d\":\"x\"", i ? "," : "", i);
        kc_buf_printf(
            &w->owners,
            "%s{\"manager\":\"m%d\",\"operation\":\"%s\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
            "\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{\"f:l%d\":{}}}}}",
            i ? "," : "[", i, i % 2 ? "Apply" : "Update", i);
    }
    kc_buf_puts(&w->object, "}}}");
    kc_buf_putc(&w->owners, ']');
    apply(w, "m1", "{'metadata':{'labels':{'other':'x'}}}");
    update(w, "u", "{'metadata':{'labels':{'other':'x'}}}");
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&w->owners), NULL, NULL);
    assert_int_equal(kc_value_len(kc_view_root(view)), 1);
}

static void writes_end_with_the_time_of_their_request(void **state)
{
    world *w = *state;
    const bool applies[] = {false, true};
    apply(w, "one", "{'spec':{'replicas':1}}");
    apply(w, "two", "{'spec':{'image':'a'}}");
    for (size_t i = 0; i < KC_COUNT(applies); i++) {
        kc__work work;
        kc__work_init(&work);
        kc__work_begin(&work, 0);
        kc__work_cancel(&work);
        assert_true(write_object(w, "three", "{'spec':{'replicas':2}}", applies[i], true) < 0);
        assert_error(&w->err, KC_TIMEOUT, "CPU time limit");
        assert_true(kc__work_end(&work));
    }
}

static void fields_before_the_first_apply_belong_to_their_own_manager(void **state)
{
    world *w = *state;
    kc_auto(kc_view) *live = view_of("{'metadata':{'name':'x'},'spec':{'replicas':1}}"),
                     *empty = view_of("{}");
    kc__fields_managed managed = {.arena = &w->arena};
    kc__fields_request request = {.updater = &plain_updater,
                                  .live = {kc_view_root(live), w->type, KC_STR("v1")},
                                  .object = {kc_view_root(live), w->type, KC_STR("v1")},
                                  .manager = KC_STR("a"),
                                  .now = kc_cstr(w->now)};
    assert_int_equal(kc__fields_managed_begin(&managed, &request, kc_view_root(empty), NULL), 0);
    kc__fields_managed_write(&w->owners, &managed);
    assert_owners(w, "before-first-apply Update 2026 {'f:spec':{'.':{},'f:replicas':{}}}\n");
    kc__fields_managed_done(&managed);
}

#define IN_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {KC__EACH(
        IN_FIXTURE, an_applier_owns_the_fields_of_its_configuration,
        fields_that_an_applier_gives_up_are_removed,
        field_dropped_by_one_manager_stays_if_another_owns_it,
        items_keep_unowned_fields_until_they_are_given_up,
        giving_up_a_field_leaves_other_branches_alone,
        object_of_which_everything_is_given_up_is_removed,
        changing_a_field_of_another_manager_is_a_conflict,
        conflicts_with_several_managers_are_grouped_by_manager, force_takes_the_field,
        an_update_owns_what_it_changes, writes_that_change_nothing_keep_entries_and_times,
        a_null_of_the_configuration_is_owned, the_oldest_updates_become_ancient_changes,
        entries_that_are_not_valid_are_refused, the_last_of_entries_with_one_identity_counts,
        an_object_is_taken_apart_into_owners_and_the_rest,
        fields_that_a_request_cannot_own_are_ignored, thousands_of_entries_are_handled_in_time,
        writes_end_with_the_time_of_their_request,
        fields_before_the_first_apply_belong_to_their_own_manager)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
