/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict_config.c: checks a configuration against the table of its type.
 *
 * Errors are those of the strict decoder of Kubernetes: all unknown and duplicate members in one
 * message, each with its path; the first value of a wrong type. A null counts as a missing member.
 * The walk is linear in the document and as deep as the tables, which nest a few levels.
 */
#include "apiserver/config/strict_config.h"

#include "kc/yaml.h"

#define MAX_CONFIG_BYTES ((size_t)1 << 20)

typedef struct config_walk {
    kc_buf path;
    kc_buf unknown; /* unknown field "a.b", unknown field "c" */
    kc_error *err;
} config_walk;

static void config_walk_done(config_walk *walk)
{
    kc_buf_done(&walk->path);
    kc_buf_done(&walk->unknown);
}

static const kc__config_member *member_named(const kc__config_member *members, kc_str name)
{
    for (; members && members->name; members++)
        if (kc_str_is(name, members->name))
            return members;
    return NULL;
}

static void add_unknown(config_walk *walk, kc_str name)
{
    const char *comma = walk->unknown.n ? ", " : "", *dot = walk->path.n ? "." : "";
    kc_buf_printf(&walk->unknown, "%sunknown field \"%.*s%s%.*s\"", comma,
                  KC_ARG(kc_buf_str(&walk->path)), dot, KC_ARG(name));
}

static int wrong_type(config_walk *walk, const kc_value *value, const char *expected)
{
    return kc_error_set(walk->err, KC_INVALID, "%.*s: expected %s, got %s",
                        KC_ARG(kc_buf_str(&walk->path)), expected,
                        kc_json_type_name(kc_value_type(value)));
}

static int check_config_members(config_walk *walk, const kc_value *object,
                                const kc__config_member *members);

static int check_items(config_walk *walk, const kc_value *list, const kc__config_member *member)
{
    const size_t n = walk->path.n;
    const bool strings = member->kind == KC__CONFIG_STRINGS;
    const kc_json_type type = strings ? KC_JSON_STRING : KC_JSON_OBJECT;
    size_t i = 0;
    int failed = 0;
    if (kc_value_type(list) != KC_JSON_ARRAY)
        return wrong_type(walk, list, "a list");
    kc_value_each_item (list, item) {
        kc_buf_printf(&walk->path, "[%zu]", i++);
        if (kc_value_type(item) != type)
            return wrong_type(walk, item, strings ? "a string" : "an object");
        failed = strings ? 0 : check_config_members(walk, item, member->members);
        walk->path.n = n;
        if (failed)
            return failed;
    }
    return 0;
}

static int check_scalar(config_walk *walk, const kc_value *value, kc__config_kind kind)
{
    static const struct {
        kc_json_type type;
        const char *text;
    } scalars[] = {[KC__CONFIG_STRING] = {KC_JSON_STRING, "a string"},
                   [KC__CONFIG_BOOL] = {KC_JSON_BOOL, "a boolean"}};
    int64_t number;
    if (kind == KC__CONFIG_INTEGER)
        return kc_value_as_i64(value, &number) ? 0 : wrong_type(walk, value, "an integer");
    return kc_value_type(value) == scalars[kind].type ? 0
                                                      : wrong_type(walk, value, scalars[kind].text);
}

static int check_value(config_walk *walk, const kc_value *value, const kc__config_member *member)
{
    if (kc_value_type(value) == KC_JSON_NULL || member->kind == KC__CONFIG_ANY)
        return 0;
    if (member->kind == KC__CONFIG_STRINGS || member->kind == KC__CONFIG_OBJECTS)
        return check_items(walk, value, member);
    if (member->kind != KC__CONFIG_OBJECT)
        return check_scalar(walk, value, member->kind);
    if (kc_value_type(value) != KC_JSON_OBJECT)
        return wrong_type(walk, value, "an object");
    return check_config_members(walk, value, member->members);
}

static bool is_type_member(const config_walk *walk, kc_str name)
{
    return walk->path.n == 0 && (kc_str_is(name, "apiVersion") || kc_str_is(name, "kind"));
}

static int check_config_member(config_walk *walk, kc_str name, const kc_value *value,
                               const kc__config_member *members)
{
    const size_t n = walk->path.n;
    const kc__config_member *member = member_named(members, name);
    if (!member) {
        if (!is_type_member(walk, name))
            add_unknown(walk, name);
        return 0;
    }
    kc_buf_printf(&walk->path, "%s%s", n ? "." : "", member->name);
    const int failed = check_value(walk, value, member);
    walk->path.n = n;
    return failed;
}

typedef struct config_entry {
    kc_str name;
    const kc_value *value;
} config_entry;

static int order_of_entries(const void *a, const void *b)
{
    return kc_str_cmp(((const config_entry *)a)->name, ((const config_entry *)b)->name);
}

/* In the order of names, as kube-apiserver, which converts YAML to sorted JSON first. */
static int check_config_members(config_walk *walk, const kc_value *object,
                                const kc__config_member *members)
{
    config_entry *entries = kc_calloc(kc_value_len(object) + 1, sizeof(*entries));
    size_t n = 0;
    int failed = 0;
    kc_value_each_member (object, name, value)
        entries[n++] = (config_entry){name, value};
    qsort(entries, n, sizeof(*entries), order_of_entries);
    for (size_t i = 0; i < n && !failed; i++)
        failed = check_config_member(walk, entries[i].name, entries[i].value, members);
    free(entries);
    return failed;
}

static int check_type_meta(const kc_value *root, const kc__config_type *type, kc_error *err)
{
    const kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion")),
                 kind = kc_value_as_str(kc_value_get(root, "kind"));
    if (kc_value_type(root) != KC_JSON_OBJECT || !kind.n)
        return kc_error_set(err, KC_INVALID, "Object 'Kind' is missing");
    if (!version.n)
        return kc_error_set(err, KC_INVALID, "Object 'apiVersion' is missing");
    if (!kc_str_is_any(version, type->api_versions) || !kc_str_is(kind, type->kind))
        return kc_error_set(err, KC_INVALID, "no kind \"%.*s\" is registered for version \"%.*s\"",
                            KC_ARG(kind), KC_ARG(version));
    return 0;
}

static int check_document(const kc_value *root, const kc__config_type *type,
                          const kc_paths *duplicates, kc_error *err)
{
    kc_scoped(config_walk) walk = {.err = err};
    if (check_type_meta(root, type, err) < 0 ||
        check_config_members(&walk, root, type->members) < 0)
        return kc_error_result(err);
    kc_vec_each (duplicates, path)
        kc_buf_printf(&walk.unknown, "%sduplicate field \"%s\"", walk.unknown.n ? ", " : "", *path);
    if (walk.unknown.n)
        return kc_error_set(err, KC_INVALID, "strict decoding error: %s",
                            kc_buf_cstr(&walk.unknown));
    return 0;
}

kc_view *kc__config_parse(kc_str text, const kc__config_type *type, kc_error *err)
{
    kc_paths duplicates = {0};
    const kc_json_opts opts = {.max_bytes = MAX_CONFIG_BYTES, .duplicates = &duplicates};
    kc_auto(kc_view) *view = kc_yaml_parse(text, &opts, err);
    const int failed =
        view ? check_document(kc_view_root(view), type, &duplicates, err) : kc_error_result(err);
    kc_paths_done(&duplicates);
    return failed < 0 ? NULL : kc_take(view);
}
