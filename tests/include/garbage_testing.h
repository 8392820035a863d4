/* SPDX-License-Identifier: Apache-2.0 */
/*
 * garbage_testing.h: helpers for tests of the garbage collector: ConfigMaps that own each other.
 *
 *     kc_auto(kc_testenv) *env = collected(7);
 *     kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
 *     kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
 *     remove_map(env, "owner", "Background");
 *     settle(env);
 *     assert_false(has_map(env, "child"));
 */
#ifndef KC_GARBAGE_TESTING_H
#define KC_GARBAGE_TESTING_H

#include "kc/controllers.h"
#include "plane_testing.h"

#define NO_OWNERS   ((const kc_object *const[]){NULL})
#define OWNERS(...) ((const kc_object *const[]){__VA_ARGS__, NULL})

static inline KC_UNUSED void add_collector(kc_manager *manager)
{
    kc_scoped(kc_error) err = {0};
    const kc_controllers_opts opts = {.names = "garbagecollector"};
    OK(kc_controllers_add(manager, &opts, &err), &err);
}

static inline KC_UNUSED kc_testenv *collected(uint64_t seed)
{
    kc_testenv *env = plane(seed);
    add_collector(kc_testenv_manager(env));
    return env;
}

/* Owner references with blockOwnerDeletion, as controllers write them. */
static inline KC_UNUSED void write_owners(kc_buf *out, const kc_object *const *owners, bool blocks)
{
    for (size_t i = 0; owners[i]; i++)
        kc_buf_printf(out,
                      "%s{\"apiVersion\":\"%.*s\",\"kind\":\"%.*s\",\"name\":\"%.*s\",\"uid\":\"%.*"
                      "s\",\"blockOwnerDeletion\":%s}",
                      i ? "," : "", KC_ARG(kc_object_api_version(owners[i])),
                      KC_ARG(kc_object_kind(owners[i])), KC_ARG(kc_object_name(owners[i])),
                      KC_ARG(kc_object_uid(owners[i])), blocks ? "true" : "false");
}

/* Creates any object: `kind` is "v1 ConfigMap"; an empty namespace means cluster-scoped. */
static inline KC_UNUSED kc_object *make_owned(kc_testenv *env, const char *kind, const char *ns,
                                              const char *name, const kc_object *const *owners,
                                              bool blocks)
{
    const char *space = strchr(kind, ' ');
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "{\"apiVersion\":\"%.*s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",",
                  (int)(space - kind), kind, space + 1, name);
    if (*ns)
        kc_buf_printf(&text, "\"namespace\":\"%s\",", ns);
    kc_buf_puts(&text, "\"ownerReferences\":[");
    write_owners(&text, owners, blocks);
    kc_buf_puts(&text, "]}}");
    return make(env, kc_buf_cstr(&text));
}

static inline KC_UNUSED kc_object *map(kc_testenv *env, const char *name,
                                       const kc_object *const *owners)
{
    return make_owned(env, "v1 ConfigMap", "default", name, owners, true);
}

static inline KC_UNUSED void remove_map(kc_testenv *env, const char *name, const char *propagation)
{
    kc_scoped(kc_error) err = {0};
    const kc_delete_opts opts = {.propagation = propagation};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", name), &opts,
                        &err),
       &err);
}

static inline KC_UNUSED bool has_map(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *found = look_up(env, &kc_kind_config_map, name);
    return found;
}

static inline KC_UNUSED size_t count_owners(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *object = look_up(env, &kc_kind_config_map, name);
    kc_scoped(kc_arena) arena = {0};
    size_t n = 0;
    kc_owner owner;
    if (!object)
        fail_msg("%s is gone", name);
    kc_meta_iter at = kc_object_owners(object, &arena);
    while (kc_meta_next_owner(&at, &owner))
        n++;
    return n;
}

/* Applies a merge patch ('…') to a ConfigMap. */
static inline KC_UNUSED void change_map(kc_testenv *env, const char *name, const char *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *body = object_of(patch);
    kc_auto(kc_object) *after =
        kc_client_patch(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", name),
                        KC_PATCH_MERGE, kc_object_json(body), NULL, &err);
    if (!after)
        fail_msg("%s", kc_error_text(&err));
}

#endif
