/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_merge.c: kubeconfig files, read one by one into one set of clusters, users and
 * contexts. The first file that has an entry of a name is the one that counts, whole: fields of the
 * same entry in later files are not mixed in. So it is with current-context.
 *
 * Entries are checked for what every one of them needs (a name, an object); their fields only when
 * a context names them, so that one broken user does not lock out the others.
 */
#include "client/kubeconfig_internal.h"

#include "kc/yaml.h"

void kc__kubeconfig_done(kc__kubeconfig *config)
{
    for (kc__kubeconfig_file *file = config->files, *next; file; file = next) {
        next = file->next;
        kc_view_free(file->view);
        free(file->name);
        free(file->folder);
        free(file);
    }
    kc_map_done(&config->clusters);
    kc_map_done(&config->users);
    kc_map_done(&config->contexts);
    kc_arena_done(&config->arena);
    *config = (kc__kubeconfig){0};
}

/* A list of entries: where it stands and where it goes. */
typedef struct entry_list {
    const char *list, *what;
    size_t map; /* Offset in kc__kubeconfig. */
} entry_list;

static const entry_list sections[] = {
    {"clusters", "cluster", offsetof(kc__kubeconfig, clusters)},
    {"users", "user", offsetof(kc__kubeconfig, users)},
    {"contexts", "context", offsetof(kc__kubeconfig, contexts)},
};

static int add_entry(kc__kubeconfig *config, const entry_list *section, const kc_value *item,
                     size_t i, const kc__kubeconfig_file *file, kc_error *err)
{
    kc_map *map = (kc_map *)((char *)config + section->map);
    const kc_str name = kc_as_str(kc_get(item, "name"));
    const kc_value *value = kc_get(item, section->what);
    if (!name.p)
        return kc_error_set(err, KC_BAD_REQUEST, "%s[%zu] has no name", section->list, i);
    if (kc_type_of(value) != KC_OBJECT && kc_type_of(value) > KC_NULL)
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
    const kc_value *list = kc_get(kc_view_root(file->view), section->list);
    size_t i = 0;
    if (kc_type_of(list) > KC_NULL && kc_type_of(list) != KC_ARRAY)
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not a list", section->list);
    kc_items (list, item)
        if (add_entry(config, section, item, i++, file, err) < 0)
            return -1;
    return 0;
}

/* An expected text, or nothing. */
static int check_is(const kc_value *root, const char *name, const char *expected, kc_error *err)
{
    const kc_value *value = kc_get(root, name);
    if (kc_type_of(value) <= KC_NULL || kc_str_is(kc_as_str(value), expected) ||
        kc_str_is(kc_as_str(value), ""))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "%s is not \"%s\": this is no kubeconfig", name,
                        expected);
}

static int check_root(const kc_value *root, kc_error *err)
{
    const kc_value *current = kc_get(root, "current-context");
    if (kc_type_of(root) != KC_OBJECT && kc_type_of(root) > KC_NULL)
        return kc_error_set(err, KC_BAD_REQUEST, "this is no kubeconfig, but %s",
                            kc_type_name(kc_type_of(root)));
    if (check_is(root, "kind", "Config", err) < 0 || check_is(root, "apiVersion", "v1", err) < 0)
        return -1;
    if (kc_type_of(current) > KC_NULL && kc_type_of(current) != KC_STRING)
        return kc_error_set(err, KC_BAD_REQUEST, "current-context is not a string");
    return 0;
}

static int merge(kc__kubeconfig *config, const kc__kubeconfig_file *file, kc_error *err)
{
    const kc_value *root = kc_view_root(file->view);
    if (check_root(root, err) < 0)
        return -1;
    for (size_t i = 0; i < KC_COUNT(sections); i++)
        if (add_section(config, &sections[i], file, err) < 0)
            return -1;
    const kc_str current = kc_as_str(kc_get(root, "current-context"));
    if (!config->current_context.p && current.n)
        config->current_context = current;
    return 0;
}

int kc__kubeconfig_add(kc__kubeconfig *config, const char *name, const char *folder, kc_str yaml,
                       kc_error *err)
{
    const kc_json_opts limits = {.max_bytes = KC__MAX_KUBECONFIG, .max_depth = 64};
    kc__kubeconfig_file *file = kc_new(kc__kubeconfig_file);
    kc__kubeconfig_file **last = &config->files;
    while (*last)
        last = &(*last)->next;
    *last = file;
    file->name = kc_strdup(name);
    file->folder = folder ? kc_strdup(folder) : NULL;
    file->view = kc_yaml_parse(yaml, &limits, err);
    if (!file->view || merge(config, file, err) < 0)
        return kc_error_wrap(err, "kubeconfig %s", name);
    return 0;
}
