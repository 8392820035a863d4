/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c: parses sidecars and merges them into a pod.
 *
 * It builds the desired pod first; the patch is the difference: so a patch contains only changes
 * and is empty for a pod that was patched before. To inject one more list of pods (initContainers),
 * add its name to `lists`.
 */
#include "sidecar/inject.h"

#include "kc/meta.h"
#include "kc/names.h"
#include "kc/strategic_patch.h"
#include "kc/yaml.h"

#include <stdio.h>

/* In this order: containers refer to volumes. */
enum { CONTAINERS, VOLUMES, LISTS };
static const char *const lists[LISTS] = {"containers", "volumes"};

struct sidecars {
    kc_view *view;
    char hash[17];
};

sidecars *sidecars_free(sidecars *what)
{
    if (what)
        kc_view_free(what->view);
    free(what);
    return NULL;
}

/* ---- parsing ---- */

static bool has_name(const kc_value *item, kc_str name)
{
    return kc_str_eq(kc_value_as_str(kc_value_get(item, "name")), name);
}

static int check_item(const char *list, const kc_value *items, size_t i, kc_error *err)
{
    const kc_value *item = kc_value_at(items, i);
    const kc_str name = kc_value_as_str(kc_value_get(item, "name"));
    if (!kc_name_valid(KC_NAME_DNS_LABEL, name))
        return kc_error_set(err, KC_INVALID, "%s[%zu]: \"%.*s\" is not a valid name", list, i,
                            KC_ARG(name));
    if (list == lists[CONTAINERS] && !kc_value_as_str(kc_value_get(item, "image")).n)
        return kc_error_set(err, KC_INVALID, "%s[%zu]: %.*s has no image", list, i, KC_ARG(name));
    for (size_t before = 0; before < i; before++)
        if (has_name(kc_value_at(items, before), name))
            return kc_error_set(err, KC_INVALID, "%s[%zu]: duplicate name %.*s", list, i,
                                KC_ARG(name));
    return 0;
}

static int sidecar_inject_check_list(const char *list, const kc_value *items, kc_error *err)
{
    if (kc_value_type(items) != KC_JSON_ARRAY || kc_value_len(items) > SIDECARS_MAX)
        return kc_error_set(err, KC_INVALID, "%s: must be a list of at most %d items", list,
                            SIDECARS_MAX);
    for (size_t i = 0; i < kc_value_len(items); i++)
        if (check_item(list, items, i, err) < 0)
            return kc_error_result(err);
    return 0;
}

static int sidecar_inject_check(const kc_value *root, kc_error *err)
{
    if (kc_value_type(root) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_INVALID, "containers and volumes are required");
    kc_value_each_member (root, name, value) {
        size_t list = 0;
        while (list < LISTS && !kc_str_is(name, lists[list]))
            list++;
        if (list == LISTS)
            return kc_error_set(err, KC_INVALID,
                                "%.*s: unknown field; only containers and "
                                "volumes are allowed",
                                KC_ARG(name));
        if (sidecar_inject_check_list(lists[list], value, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* FNV-1a: stored in objects, so it must never change. */
static void write_hash(kc_str text, char out[17])
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * 0x100000001b3u;
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

sidecars *sidecars_read(const kc_object *config_map, kc_error *err)
{
    kc_auto(kc_view) *map = kc_view_of(config_map);
    const kc_str text = kc_value_as_str(kc_value_nested(kc_view_root(map), "data.config"));
    if (!text.p) {
        kc_error_set(err, KC_INVALID, "data.config is missing");
        return NULL;
    }
    kc_auto(sidecars) *what = kc_new(sidecars);
    kc_scoped(kc_error) why = {0};
    what->view = kc_yaml_parse(text, NULL, &why);
    if (!what->view || sidecar_inject_check(kc_view_root(what->view), &why) < 0) {
        kc_error_set(err, KC_INVALID, "data.config: %s", kc_error_text(&why));
        return NULL;
    }
    kc_scoped(kc_buf) content = {0};
    kc_json_write(&content, kc_view_root(what->view));
    write_hash(kc_buf_str(&content), what->hash);
    return kc_take(what);
}

/* ---- selecting pods ---- */

static kc_str sidecar_inject_annotation(const kc_value *metadata, const char *name)
{
    return kc_value_as_str(kc_value_get(kc_value_get(metadata, "annotations"), name));
}

bool sidecars_wanted(const kc_value *metadata, const kc_selector *rule)
{
    if (kc_str_is(sidecar_inject_annotation(metadata, SIDECARS_INJECT), "false"))
        return false;
    return kc_str_is(sidecar_inject_annotation(metadata, SIDECARS_ANNOTATED), "true") ||
           (rule && kc_selector_match_value(rule, kc_value_get(metadata, "labels")));
}

bool sidecars_noted(const kc_value *metadata)
{
    return sidecar_inject_annotation(metadata, SIDECARS_STATUS).p;
}

/* ---- merging ---- */

typedef struct sidecar_inject_merge {
    kc_edit *pod;
    const sidecars *what;  /* NULL: no sidecars. */
    const kc_value *noted; /* The current annotation; NULL: none. */
    bool is_old;           /* The recorded sidecars must be replaced. */
    kc_node *status;       /* The new annotation. */
} sidecar_inject_merge;

static bool sidecar_inject_is_named(const kc_value *names, kc_str name)
{
    kc_value_each_item (names, item)
        if (kc_str_eq(kc_value_as_str(item), name))
            return true;
    return false;
}

/* Limit per list; a foreign annotation may name thousands. */
static const kc_value *ours_of(const sidecar_inject_merge *m, const char *list)
{
    const kc_value *names = kc_value_get(m->noted, list);
    return kc_value_len(names) <= SIDECARS_MAX ? names : NULL;
}

static bool is_wanted(const kc_value *wanted, kc_str name)
{
    kc_value_each_item (wanted, item)
        if (has_name(item, name))
            return true;
    return false;
}

/* Its index in the list; the list's length if absent. */
static size_t sidecar_inject_position_of(const kc_node *items, kc_str name)
{
    size_t i = 0;
    kc_node_each_item (items, item) {
        if (kc_str_eq(kc_node_as_str(kc_node_get(item, KC_STR("name"))), name))
            return i;
        i++;
    }
    return i;
}

static void remove_unwanted(kc_node *items, const kc_value *ours, const kc_value *wanted)
{
    kc_value_each_item (ours, name) {
        const size_t at = sidecar_inject_position_of(items, kc_value_as_str(name));
        if (at < kc_node_len(items) && !is_wanted(wanted, kc_value_as_str(name)))
            kc_node_remove_at(items, at);
    }
}

static bool lacks_some(const kc_node *items, const kc_value *wanted)
{
    kc_value_each_item (wanted, item)
        if (sidecar_inject_position_of(items, kc_value_as_str(kc_value_get(item, "name"))) ==
            kc_node_len(items))
            return true;
    return false;
}

/* Appended, so that a list has the same order whatever the steps were. */
static void sidecar_inject_put(sidecar_inject_merge *m, kc_node *items, const kc_value *item)
{
    const size_t at =
        sidecar_inject_position_of(items, kc_value_as_str(kc_value_get(item, "name")));
    const bool is_there = at < kc_node_len(items);
    kc_node *wanted = is_there && !m->is_old ? kc_node_clone(m->pod, kc_node_at(items, at))
                                             : kc_node_from_value(m->pod, item);
    if (is_there)
        kc_node_remove_at(items, at);
    kc_node_append(items, wanted);
}

/* Returns the number of injected items in the list. */
static size_t merge_list(sidecar_inject_merge *m, const char *list, const kc_value *wanted)
{
    kc_node *spec = kc_node_ensure_object(m->pod, kc_edit_root(m->pod), KC_STR("spec"));
    kc_node *items = kc_node_get(spec, kc_cstr(list)), *names = kc_node_array(m->pod);
    const kc_value *ours = ours_of(m, list);
    remove_unwanted(items, ours, wanted);
    if (kc_value_len(wanted) && kc_node_type(items) != KC_JSON_ARRAY)
        kc_node_set(m->pod, spec, kc_cstr(list), items = kc_node_array(m->pod));
    const bool changes = m->is_old || lacks_some(items, wanted);
    kc_value_each_item (wanted, item) {
        const kc_str name = kc_value_as_str(kc_value_get(item, "name"));
        if (!sidecar_inject_is_named(ours, name) &&
            sidecar_inject_position_of(items, name) < kc_node_len(items))
            continue; /* The user's own. */
        if (changes)
            sidecar_inject_put(m, items, item);
        kc_node_append(names, kc_node_str(m->pod, name));
    }
    kc_node_set(m->pod, m->status, kc_cstr(list), names);
    return kc_node_len(names);
}

static void sidecar_inject_record(sidecar_inject_merge *m, size_t n_ours)
{
    kc_scoped(kc_buf) text = {0};
    kc_node_write(&text, m->status);
    if (n_ours)
        kc_edit_set_annotation(m->pod, KC_STR(SIDECARS_STATUS), kc_buf_str(&text));
    else
        kc_edit_remove_annotation(m->pod, KC_STR(SIDECARS_STATUS));
}

/* A pod that has all containers of its own gets no volumes either: they would not be mounted. */
static void merge_all(sidecar_inject_merge *m)
{
    const kc_value *wanted = m->what ? kc_view_root(m->what->view) : NULL;
    const kc_value *containers = kc_value_get(wanted, lists[CONTAINERS]);
    const size_t n = merge_list(m, lists[CONTAINERS], containers);
    const bool has_its_own = kc_value_len(containers) && !n;
    const kc_value *volumes = has_its_own ? NULL : kc_value_get(wanted, lists[VOLUMES]);
    sidecar_inject_record(m, n + merge_list(m, lists[VOLUMES], volumes));
}

kc_edit *sidecars_patch(const kc_value *pod, const sidecars *what, kc_error *err)
{
    const kc_str status = sidecar_inject_annotation(kc_value_get(pod, "metadata"), SIDECARS_STATUS);
    kc_auto(kc_view) *noted = status.p ? kc_view_parse(status, NULL, NULL) : NULL;
    kc_auto(kc_edit) *edit = kc_edit_of_value(pod);
    sidecar_inject_merge m = {.pod = edit, .what = what, .noted = kc_view_root(noted)};
    m.status = kc_node_object(edit);
    if (what) {
        m.is_old = !kc_str_is(kc_value_as_str(kc_value_get(m.noted, "hash")), what->hash);
        kc_node_set(edit, m.status, KC_STR("hash"), kc_node_str(edit, kc_cstr(what->hash)));
    }
    merge_all(&m);
    kc_auto(kc_view) *to = kc_edit_view(edit, err);
    return to ? kc_strategic_patch_make(pod, kc_view_root(to), &kc_patch_schema_pod, NULL, err)
              : NULL;
}
