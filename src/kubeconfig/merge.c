/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c: merges kubeconfig files into one set of clusters, users and contexts. The first file
 * that defines an entry wins as a whole: fields of the same entry in later files are not merged.
 * The same holds for current-context.
 *
 * All entries are checked for a name and an object value. Their fields are checked only when a
 * context refers to them, so that one invalid user does not make the other entries unusable.
 */
#include "kubeconfig/kubeconfig_internal.h"

#include "kc/yaml.h"

void kc__kubeconfig_done(kc__kubeconfig *config)
{
    for (kc__kubeconfig_file *file = config->files, *next; file; file = next) {
        next = file->next;
        kc_view_free(file->view);
        free(file->name);
        free(file->dir);
        free(file);
    }
    kc_map_done(&config->clusters);
    kc_map_done(&config->users);
    kc_map_done(&config->contexts);
    kc_arena_done(&config->arena);
    *config = (kc__kubeconfig){0};
}

/* A list of entries: its field in the file and its map in kc__kubeconfig. */
typedef struct entry_list {
    const char *list, *what;
    size_t map; /* Offset in kc__kubeconfig. */
} entry_list;

static const entry_list sections[] = {
    {"clusters", "cluster", offsetof(kc__kubeconfig, clusters)},
    {"users", "user", offsetof(kc__kubeconfig, users)},
    {"contexts", "context", offsetof(kc__kubeconfig, contexts)},
};

static int kubeconfig_merge_add_entry(kc__kubeconfig *config, const entry_list *section,
                                      const kc_value *item, size_t i,
                                      const kc__kubeconfig_file *file, kc_error *err)
{
    kc_map *map = (kc_map *)((char *)config + section->map);
    const kc_str name = kc_value_as_str(kc_value_get(item, "name"));
    const kc_value *value = kc_value_get(item, section->what);
    if (!name.p)
        return kc_error_set(err, KC_BAD_REQUEST, "%s[%zu] has no name", section->list, i);
    if (kc_value_type(value) != KC_JSON_OBJECT && kc_value_type(value) > KC_JSON_NULL)
        return kc_error_set(err, KC_BAD_REQUEST, "%s \"%.*s\" is not an object", section->what,
                            KC_ARG(name));
    const kc__kubeconfig_entry *other = kc_map_get(map, name);
    if (other && other->file == file)
        return kc_error_set(err, KC_BAD_REQUEST, "two %s have the name \"%.*s\"", section->list,
                            KC_ARG(name));
    if (other)
        return 0;
    kc__kubeconfig_entry *entry = kc_arena_new(&config->arena, kc__kubeconfig_entry);
    *entry = (kc__kubeconfig_entry){section->what, name, value, file};
    kc_map_put(map, name, entry);
    return 0;
}

static int add_section(kc__kubeconfig *config, const entry_list *section,
                       const kc__kubeconfig_file *file, kc_error *err)
{
    const kc_value *list = kc_value_get(kc_view_root(file->view), section->list);
    size_t i = 0;
    if (kc_value_type(list) > KC_JSON_NULL && kc_value_type(list) != KC_JSON_ARRAY)
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not a list", section->list);
    kc_value_each_item (list, item)
        if (kubeconfig_merge_add_entry(config, section, item, i++, file, err) < 0)
            return kc_error_result(err);
    return 0;
}

/* Checks that a field is absent or has the expected value. */
static int check_is(const kc_value *root, const char *name, const char *expected, kc_error *err)
{
    const kc_value *value = kc_value_get(root, name);
    if (kc_value_type(value) <= KC_JSON_NULL || kc_str_is(kc_value_as_str(value), expected) ||
        kc_str_is(kc_value_as_str(value), ""))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "not a kubeconfig: %s is not \"%s\"", name, expected);
}

static int check_root(const kc_value *root, kc_error *err)
{
    const kc_value *current = kc_value_get(root, "current-context");
    if (kc_value_type(root) != KC_JSON_OBJECT && kc_value_type(root) > KC_JSON_NULL)
        return kc_error_set(err, KC_BAD_REQUEST, "not a kubeconfig: expected an object, got %s",
                            kc_json_type_name(kc_value_type(root)));
    if (check_is(root, "kind", "Config", err) < 0 || check_is(root, "apiVersion", "v1", err) < 0)
        return kc_error_result(err);
    if (kc_value_type(current) > KC_JSON_NULL && kc_value_type(current) != KC_JSON_STRING)
        return kc_error_set(err, KC_BAD_REQUEST, "current-context is not a string");
    return 0;
}

static int merge(kc__kubeconfig *config, const kc__kubeconfig_file *file, kc_error *err)
{
    const kc_value *root = kc_view_root(file->view);
    if (check_root(root, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(sections); i++)
        if (add_section(config, &sections[i], file, err) < 0)
            return kc_error_result(err);
    const kc_str current = kc_value_as_str(kc_value_get(root, "current-context"));
    if (!config->current_context.p && current.n)
        config->current_context = current;
    return 0;
}

int kc__kubeconfig_add(kc__kubeconfig *config, const char *name, const char *dir, kc_str yaml,
                       kc_error *err)
{
    const kc_json_opts limits = {.max_bytes = KC__KUBECONFIG_MAX_BYTES, .max_depth = 64};
    kc__kubeconfig_file *file = kc_new(kc__kubeconfig_file);
    kc__kubeconfig_file **last = &config->files;
    while (*last)
        last = &(*last)->next;
    *last = file;
    file->name = kc_strdup(name);
    file->dir = dir ? kc_strdup(dir) : NULL;
    file->view = kc_yaml_parse(yaml, &limits, err);
    if (!file->view || merge(config, file, err) < 0)
        return kc_error_wrap(err, "kubeconfig %s", name);
    return 0;
}
