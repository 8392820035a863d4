/* SPDX-License-Identifier: Apache-2.0 */
/* fields_cases.c: runs a case of fields_cases.h. Each operation has one function; `cases` lists
 * them. */
#include "fields_cases.h"

#include "kc/edit.h"
#include "object/fields/fields_managed.h"

#define NOW "2035-01-01T00:00:00Z"

typedef struct runner {
    const kc_value *test;
    kc_arena arena;
    kc_buf *out;
    unsigned members; /* Written so far. */
    kc__fields_types *types[2];
    KC_VEC(kc_view *) views; /* Of converted and prepared objects. */
} runner;

/* ---- output ---- */

static void member(runner *r, const char *name)
{
    kc_buf_printf(r->out, "%s\"%s\":", r->members++ ? "," : "", name);
}

static void text_member(runner *r, const char *name, kc_str text)
{
    member(r, name);
    kc_json_quote(r->out, text);
}

static void set_member(runner *r, const char *name, const kc__fields_set *set)
{
    kc_scoped(kc_buf) text = {0};
    kc__fields_v1_write(&text, set);
    text_member(r, name, kc_buf_str(&text));
}

static void value_member(runner *r, const char *name, const kc_value *value)
{
    member(r, name);
    kc_json_write(r->out, value);
}

static void error_member(runner *r, const char *name, kc_error *err)
{
    text_member(r, name, kc_cstr(kc_error_text(err)));
    kc_error_done(err);
}

/* ---- input ---- */

static kc_str text_of(runner *r, const kc_value *value)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, value);
    return kc_arena_str(&r->arena, kc_buf_str(&text));
}

/* False when the FieldsV1 is not valid. */
static bool read_set(runner *r, const kc_value *value, const kc__fields_set **ret)
{
    *ret = NULL;
    return !value || kc__fields_v1_read(&r->arena, text_of(r, value), ret, NULL, NULL) == 0;
}

/* The type of a case, or NULL with a member "schema". */
static const kc__fields_type *type_of(runner *r, const kc_value *definitions, int slot)
{
    kc_scoped(kc_error) err = {0};
    r->types[slot] = kc__fields_types_new();
    if (definitions && kc__fields_types_add_openapi(r->types[slot], definitions, NULL, &err) < 0) {
        error_member(r, "schema", &err);
        return NULL;
    }
    kc__fields_types_finish(r->types[slot]);
    return definitions ? kc__fields_types_get(r->types[slot],
                                              kc_value_as_str(kc_value_get(r->test, "type")))
                       : kc__fields_types_deduced(r->types[slot]);
}

/* ---- sets ---- */

static bool path_member(const kc__fields_path *path, void *user)
{
    runner *r = user;
    kc_scoped(kc_buf) text = {0};
    kc__fields_path_print(&text, path);
    if (r->out->p[r->out->n - 1] != '[')
        kc_buf_putc(r->out, ',');
    kc_json_quote(r->out, kc_buf_str(&text));
    return true;
}

static void run_sets(runner *r)
{
    const kc__fields_set *a, *b;
    kc_arena *arena = &r->arena;
    if (!read_set(r, kc_value_get(r->test, "a"), &a)) {
        text_member(r, "error", KC_STR("a"));
        return;
    }
    if (!read_set(r, kc_value_get(r->test, "b"), &b)) {
        text_member(r, "error", KC_STR("b"));
        return;
    }
    set_member(r, "a", a);
    set_member(r, "b", b);
    member(r, "paths");
    kc_buf_putc(r->out, '[');
    kc__fields_set_each(a, path_member, r);
    kc_buf_putc(r->out, ']');
    set_member(r, "union", kc__fields_set_union(arena, a, b));
    set_member(r, "intersection", kc__fields_set_intersection(arena, a, b));
    set_member(r, "difference", kc__fields_set_difference(arena, a, b));
    set_member(r, "below", kc__fields_set_difference_below(arena, a, b));
    set_member(r, "leaves", kc__fields_set_leaves(arena, a));
    member(r, "equal");
    kc_buf_puts(r->out, kc__fields_set_equal(a, b) ? "true" : "false");
}

/* ---- values ---- */

static void run_typed(runner *r)
{
    kc_scoped(kc_error) err = {0};
    kc_arena *arena = &r->arena;
    size_t start = r->out->n;
    const kc__fields_type *type = type_of(r, kc_value_get(r->test, "definitions"), 0);
    const kc_value *value = kc_value_get(r->test, "object"), *fields = kc_value_get(r->test, "a");
    if (!type)
        return;
    if (kc__fields_validate(type, value, false, &err) < 0)
        error_member(r, "strict", &err);
    if (kc__fields_validate(type, value, true, &err) < 0) {
        error_member(r, "loose", &err);
        return;
    }
    const kc__fields_set *a, *set = kc__fields_set_of_value(arena, type, value);
    if (!read_set(r, fields, &a)) {
        r->out->n = start;
        r->members = 0;
        text_member(r, "error", KC_STR("a"));
        return;
    }
    set_member(r, "set", set);
    set_member(r, "named", kc__fields_ensure_named(arena, type, set));
    if (!fields)
        return;
    value_member(r, "removed", kc__fields_remove(arena, type, value, a));
    value_member(r, "extracted", kc__fields_extract(arena, type, value, a));
    set_member(r, "reconciled", kc__fields_reconcile(arena, type, a));
    set_member(r, "ensured", kc__fields_ensure_named(arena, type, a));
}

static void run_compare(runner *r)
{
    kc_scoped(kc_error) err = {0};
    kc__fields_comparison all;
    const kc__fields_type *type = type_of(r, kc_value_get(r->test, "definitions"), 0);
    const kc_value *live = kc_value_get(r->test, "live");
    const kc_value *object = kc_value_get(r->test, "object");
    if (!type)
        return;
    if (kc__fields_validate(type, live, true, &err) < 0 ||
        kc__fields_validate(type, object, true, &err) < 0) {
        error_member(r, "error", &err);
        return;
    }
    if (kc__fields_compare(&r->arena, type, live, object, &all, &err) < 0) {
        error_member(r, "compare", &err);
    } else {
        set_member(r, "added", all.added);
        set_member(r, "removed", all.removed);
        set_member(r, "modified", all.modified);
    }
    if (kc__fields_validate(type, object, false, NULL) == 0)
        value_member(r, "merged", kc__fields_merge(&r->arena, type, live, object, NULL));
}

/* ---- versions ---- */

typedef struct kind {
    runner *r;
    const kc__fields_type *v1, *v2;
} kind;

static const kc__fields_type *type_in(const kind *k, kc_str version)
{
    return kc_str_is(version, "v1") ? k->v1 : kc_str_is(version, "v2") ? k->v2 : NULL;
}

/* A view of an edit that lives as long as the runner. */
static const kc_value *keep_view(runner *r, const kc_edit *edit)
{
    kc_view *view = kc_edit_view(edit, NULL);
    kc_vec_push(&r->views, view);
    return kc_view_root(view);
}

static void rename_member(kc_edit *edit, kc_str from, kc_str to)
{
    kc_node *root = kc_edit_root(edit), *value = kc_node_get(root, from);
    if (!value)
        return;
    value = kc_node_clone(edit, value);
    kc_node_remove(root, from);
    kc_node_set(edit, root, to, value);
}

static kc__fields_converted convert_case(kc_arena *arena, const kc__fields_typed *from,
                                         kc_str version, kc__fields_typed *ret, kc_error *err,
                                         void *user)
{
    kind *k = user;
    const kc__fields_type *type = type_in(k, version);
    (void)arena;
    if (kc_value_type(from->value) != KC_JSON_OBJECT) {
        kc_error_set(err, KC_INTERNAL, "not an object");
        return KC__FIELDS_NOT_CONVERTED;
    }
    if (!type)
        return KC__FIELDS_NO_VERSION;
    kc_auto(kc_edit) *edit = kc_edit_of_value(from->value);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("apiVersion"), kc_node_str(edit, version));
    if (kc_str_is(version, "v2"))
        rename_member(edit, KC_STR("renamed1"), KC_STR("renamed2"));
    else
        rename_member(edit, KC_STR("renamed2"), KC_STR("renamed1"));
    *ret = (kc__fields_typed){keep_view(k->r, edit), type, version};
    return KC__FIELDS_CONVERTED;
}

static bool read_kind(runner *r, kind *k)
{
    const kc_value *versions = kc_value_get(r->test, "versions");
    const kc_value *v1 = kc_value_get(versions, "v1"), *v2 = kc_value_get(versions, "v2");
    k->r = r;
    k->v1 = v1 ? type_of(r, v1, 0) : NULL;
    k->v2 = v2 ? type_of(r, v2, 1) : NULL;
    return (k->v1 || !v1) && (k->v2 || !v2);
}

/* ---- updater ---- */

static bool read_managers(runner *r, kc__fields_managers *ret)
{
    const kc_value *managers = kc_value_get(r->test, "managers");
    ret->items = kc_arena_calloc(&r->arena, kc_value_len(managers) + 1, sizeof(*ret->items));
    ret->n = 0;
    kc_value_each_member (managers, id, entry) {
        kc__fields_manager *manager = &ret->items[ret->n++];
        manager->id = id;
        manager->version = kc_value_as_str(kc_value_get(entry, "version"));
        manager->applied = kc_value_as_bool(kc_value_get(entry, "applied"), false);
        if (!read_set(r, kc_value_get(entry, "set"), &manager->set))
            return false;
    }
    return true;
}

static bool read_ignored(runner *r, kc__fields_updater *updater)
{
    const kc_value *ignored = kc_value_get(r->test, "ignored");
    kc__fields_ignored *all = kc_arena_calloc(&r->arena, kc_value_len(ignored) + 1, sizeof(*all));
    updater->ignored = all;
    kc_value_each_member (ignored, version, set) {
        kc__fields_ignored *one = &all[updater->n_ignored++];
        one->version = version;
        if (!read_set(r, set, &one->set))
            return false;
    }
    return true;
}

static void managers_member(runner *r, const kc__fields_managers *managers)
{
    member(r, "managers");
    kc_buf_putc(r->out, '{');
    for (size_t i = 0; i < managers->n; i++) {
        const kc__fields_manager *manager = &managers->items[i];
        kc_scoped(kc_buf) set = {0};
        kc__fields_v1_write(&set, manager->set);
        kc_buf_puts(r->out, i ? "," : "");
        kc_json_quote(r->out, manager->id);
        kc_buf_puts(r->out, ":{\"version\":");
        kc_json_quote(r->out, manager->version);
        kc_buf_printf(r->out, ",\"applied\":%s,\"set\":", manager->applied ? "true" : "false");
        kc_json_quote(r->out, kc_buf_str(&set));
        kc_buf_putc(r->out, '}');
    }
    kc_buf_putc(r->out, '}');
}

static void conflicts_member(runner *r, const kc__fields_result *result)
{
    member(r, "conflicts");
    kc_buf_putc(r->out, '{');
    for (size_t i = 0; i < result->n_conflicts; i++) {
        kc_buf_puts(r->out, i ? "," : "");
        kc_json_quote(r->out, result->conflicts[i].manager);
        kc_buf_puts(r->out, ":[");
        kc__fields_set_each(result->conflicts[i].set, path_member, r);
        kc_buf_putc(r->out, ']');
    }
    kc_buf_putc(r->out, '}');
}

static void result_members(runner *r, const kc__fields_result *result, bool applied)
{
    if (result->n_conflicts) {
        conflicts_member(r, result);
        return;
    }
    managers_member(r, &result->managers);
    if (!applied)
        return;
    if (result->value) {
        value_member(r, "object", result->value);
    } else {
        member(r, "same");
        kc_buf_puts(r->out, "true");
    }
}

static void run_updater(runner *r)
{
    kc_scoped(kc_error) err = {0};
    kind k;
    kc__fields_updater updater = {.convert = convert_case, .user = &k};
    kc__fields_managers managers;
    kc__fields_result result;
    bool applied = kc_str_is(kc_value_as_str(kc_value_get(r->test, "op")), "apply");
    kc_str version = kc_value_as_str(kc_value_get(r->test, "version"));
    kc_str manager = kc_value_as_str(kc_value_get(r->test, "manager"));
    if (!read_kind(r, &k))
        return;
    kc__fields_typed live = {kc_value_get(r->test, "live"), type_in(&k, version), version};
    kc__fields_typed object = {kc_value_get(r->test, "object"), type_in(&k, version), version};
    if (kc__fields_validate(live.type, live.value, true, NULL) < 0) {
        text_member(r, "invalid", KC_STR("live"));
        return;
    }
    if (!read_managers(r, &managers) || !read_ignored(r, &updater)) {
        text_member(r, "invalid", KC_STR("set"));
        return;
    }
    if (kc__fields_validate(object.type, object.value, !applied, NULL) < 0) {
        text_member(r, "invalid", KC_STR("object"));
        return;
    }
    int failed = applied ? kc__fields_apply(&r->arena, &updater, &live, &object, &managers, manager,
                                            kc_value_as_bool(kc_value_get(r->test, "force"), false),
                                            &result, &err)
                         : kc__fields_update(&r->arena, &updater, &live, &object, &managers,
                                             manager, &result, &err);
    if (failed < 0)
        error_member(r, "error", &err);
    else
        result_members(r, &result, applied);
}

/* ---- managed fields, as a server handles them ---- */

/* The object without metadata.managedFields, whose text is *ret_json. */
static const kc_value *take_managed(runner *r, const kc_value *object, kc_str *ret_json)
{
    const kc_value *entries = kc_value_get(kc_value_get(object, "metadata"), "managedFields");
    *ret_json = entries ? text_of(r, entries) : (kc_str){0};
    kc_auto(kc_edit) *edit = kc_edit_of_value(object);
    kc_node_remove(kc_node_get(kc_edit_root(edit), KC_STR("metadata")), KC_STR("managedFields"));
    return keep_view(r, edit);
}

static void read_live_or_new(kc__fields_managed *managed, kc_str live, kc_str object,
                             bool from_live)
{
    if (!from_live && kc__fields_managed_is_reset(object))
        return;
    if (!from_live && kc__fields_managed_read(managed, object, NULL) == 0 && managed->owners.n)
        return;
    if (kc__fields_managed_read(managed, live, NULL) < 0)
        return;
}

static void entry_members(runner *r, const kc__fields_owner *owner)
{
    kc_scoped(kc_buf) set = {0};
    kc_str time = kc_str_is(owner->time, NOW) ? KC_STR("NOW") : owner->time;
    kc__fields_v1_write(&set, owner->set);
    r->members = 0;
    kc_buf_putc(r->out, '{');
    text_member(r, "manager", owner->manager);
    text_member(r, "operation", owner->applied ? KC_STR("Apply") : KC_STR("Update"));
    text_member(r, "apiVersion", owner->version);
    text_member(r, "subresource", owner->subresource);
    text_member(r, "set", kc_buf_str(&set));
    text_member(r, "fieldsType", KC_STR("FieldsV1"));
    if (time.n)
        text_member(r, "time", time);
    kc_buf_putc(r->out, '}');
}

static void managed_result(runner *r, kc__fields_managed *managed, const kc_value *object)
{
    kc_scoped(kc_buf) text = {0};
    kc__fields_managed again = {.arena = &r->arena};
    kc__fields_managed_write(&text, managed);
    /* What was written reads back. */
    if (kc__fields_managed_read(&again, kc_buf_str(&text), NULL) < 0 ||
        again.owners.n != managed->owners.n)
        text_member(r, "unreadable", kc_buf_str(&text));
    member(r, "entries");
    kc_buf_putc(r->out, '[');
    kc_vec_each (&managed->owners, owner) {
        kc_buf_puts(r->out, owner == managed->owners.items ? "" : ",");
        entry_members(r, owner);
    }
    kc_buf_putc(r->out, ']');
    value_member(r, "object", object);
    kc__fields_managed_done(&again);
}

static void status_members(runner *r, kc_error *err)
{
    text_member(r, "status", kc_cstr(kc_error_text(err)));
    member(r, "causes");
    kc_buf_putc(r->out, '[');
    for (size_t i = 0; i < err->causes.n; i++) {
        const kc_cause *cause = &err->causes.items[i];
        kc_scoped(kc_buf) text = {0};
        kc_buf_printf(&text, "%s|%s|%s", cause->reason, cause->field, cause->message);
        kc_buf_puts(r->out, i ? "," : "");
        kc_json_quote(r->out, kc_buf_str(&text));
    }
    kc_buf_putc(r->out, ']');
}

static bool is_valid(runner *r, const kc__fields_typed *value, bool duplicates)
{
    kc_scoped(kc_error) err = {0};
    if (kc__fields_validate(value->type, value->value, duplicates, &err) == 0)
        return true;
    error_member(r, "error", &err);
    return false;
}

static void managed_update(runner *r, kc__fields_managed *managed, kc__fields_request *request,
                           kc_str live_entries, kc_str new_entries)
{
    kc_scoped(kc_error) err = {0};
    read_live_or_new(managed, live_entries, new_entries, request->subresource.n > 0);
    const kc_value *uid = kc_value_get(kc_value_get(request->live.value, "metadata"), "uid");
    bool tracked = managed->owners.n || !kc_value_as_str(uid).n;
    if (tracked) {
        if (!is_valid(r, &request->object, true) || !is_valid(r, &request->live, true))
            return;
        if (kc__fields_managed_update(managed, request, &err) < 0) {
            error_member(r, "error", &err);
            return;
        }
    }
    managed_result(r, managed, request->object.value);
}

static void managed_apply(runner *r, kc__fields_managed *managed, kc__fields_request *request,
                          kc_str live_entries)
{
    kc_scoped(kc_error) err = {0};
    const kc_value *value = NULL;
    if (kc__fields_managed_read(managed, live_entries, &err) < 0) {
        error_member(r, "error", &err);
        return;
    }
    if ((!managed->owners.n && !is_valid(r, &request->live, true)) ||
        !is_valid(r, &request->object, false) || !is_valid(r, &request->live, true))
        return;
    kc_auto(kc_edit) *empty = kc_edit_new();
    kc_node_set(empty, kc_edit_root(empty), KC_STR("apiVersion"),
                kc_node_str(empty, request->live.version));
    kc_node_set(empty, kc_edit_root(empty), KC_STR("kind"), kc_node_str(empty, KC_STR("Thing")));
    if (!managed->owners.n &&
        kc__fields_managed_begin(managed, request, keep_view(r, empty), &err) < 0) {
        error_member(r, "error", &err);
        return;
    }
    if (kc__fields_managed_apply(managed, request, &value, &err) == 0)
        managed_result(r, managed, value ? value : request->live.value);
    else if (err.reason == KC_CONFLICT)
        status_members(r, &err);
    else
        error_member(r, "error", &err);
}

static void run_managed(runner *r)
{
    kind k;
    kc_str live_entries, new_entries;
    kc__fields_updater updater = {.convert = convert_case, .user = &k};
    kc_str version = kc_value_as_str(kc_value_get(r->test, "version"));
    if (!read_kind(r, &k))
        return;
    const kc_value *live = take_managed(r, kc_value_get(r->test, "live"), &live_entries);
    const kc_value *object = take_managed(r, kc_value_get(r->test, "object"), &new_entries);
    kc__fields_request request = {.updater = &updater,
                                  .live = {live, type_in(&k, version), version},
                                  .object = {object, type_in(&k, version), version},
                                  .manager = kc_value_as_str(kc_value_get(r->test, "manager")),
                                  .subresource =
                                      kc_value_as_str(kc_value_get(r->test, "subresource")),
                                  .now = KC_STR(NOW),
                                  .force = kc_value_as_bool(kc_value_get(r->test, "force"), false)};
    kc__fields_managed managed = {.arena = &r->arena};
    if (kc_str_is(kc_value_as_str(kc_value_get(r->test, "operation")), "Update"))
        managed_update(r, &managed, &request, live_entries, new_entries);
    else
        managed_apply(r, &managed, &request, live_entries);
    kc__fields_managed_done(&managed);
}

/* ---- all ---- */

static const struct {
    const char *op;
    void (*run)(runner *r);
} cases[] = {{"sets", run_sets},      {"typed", run_typed},   {"compare", run_compare},
             {"update", run_updater}, {"apply", run_updater}, {"managed", run_managed}};

void fields_case_run(kc_buf *out, const kc_value *test)
{
    runner r = {.test = test, .out = out};
    kc_str op = kc_value_as_str(kc_value_get(test, "op"));
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        if (kc_str_is(op, cases[i].op))
            cases[i].run(&r);
    kc_buf_putc(out, '}');
    kc_vec_each (&r.views, view)
        kc_view_free(*view);
    kc_vec_done(&r.views);
    for (size_t i = 0; i < KC_COUNT(r.types); i++)
        kc__fields_types_free(r.types[i]);
    kc_arena_done(&r.arena);
}
