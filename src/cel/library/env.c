/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.c: environments: the libraries of a version of Kubernetes, indexed by function.
 *
 * To add a library: its table in function_internal.h and here, in the order in which Kubernetes
 * declares it, and its types in kc__cel_named_types.
 */
#include "cel/library/env_internal.h"

static const kc__cel_library *const libraries[] = {
    &kc__cel_library_operators, &kc__cel_library_compare,    &kc__cel_library_convert,
    &kc__cel_library_text,      &kc__cel_library_time,       &kc__cel_library_regex,
    &kc__cel_library_lists,     &kc__cel_library_optional,   &kc__cel_library_quantity,
    &kc__cel_library_strings,   &kc__cel_library_strings_29, &kc__cel_library_join,
    &kc__cel_library_sets,      &kc__cel_library_net,        &kc__cel_library_two_variables,
    &kc__cel_library_semver,    &kc__cel_library_lists_34,   &kc__cel_library_url,
    &kc__cel_library_formats,   &kc__cel_library_authorizer, &kc__cel_library_authorizer_31,
    &kc__cel_library_patch,
};

const kc__cel_named_type kc__cel_named_types[] = {
    {&kc__cel_type_bool, KC__CEL_ALWAYS},
    {&kc__cel_type_bytes, KC__CEL_ALWAYS},
    {&kc__cel_type_double, KC__CEL_ALWAYS},
    {&kc__cel_type_duration, KC__CEL_ALWAYS},
    {&kc__cel_type_int, KC__CEL_ALWAYS},
    {&kc__cel_type_list_a, KC__CEL_ALWAYS},
    {&kc__cel_type_map_ab, KC__CEL_ALWAYS},
    {&kc__cel_type_null, KC__CEL_ALWAYS},
    {&kc__cel_type_string, KC__CEL_ALWAYS},
    {&kc__cel_type_timestamp, KC__CEL_ALWAYS},
    {&kc__cel_type_type, KC__CEL_ALWAYS},
    {&kc__cel_type_uint, KC__CEL_ALWAYS},
    {&kc__cel_type_optional_any, KC__CEL_OPTIONALS},
    {&kc__cel_type_ip, KC__CEL_NET_30},
    {&kc__cel_type_cidr, KC__CEL_NET_30},
};
const size_t kc__cel_n_named_types = KC_COUNT(kc__cel_named_types);

bool kc__cel_env_has(const kc_cel_env *env, kc__cel_feature feature)
{
    static const unsigned since[] = {
        [KC__CEL_AUTHORIZER_27] = 27, [KC__CEL_OPTIONALS] = 28, [KC__CEL_QUANTITY_28] = 28,
        [KC__CEL_STRINGS_29] = 29,    [KC__CEL_NET_30] = 30,    [KC__CEL_FORMATS_31] = 31,
        [KC__CEL_TWO_VARIABLES] = 32, [KC__CEL_SEMVER_33] = 33, [KC__CEL_LISTS_34] = 34,
    };
    if (feature == KC__CEL_PATCHES)
        return env->with_patches;
    return feature == KC__CEL_BIND ? env->with_bind : env->version >= since[feature];
}

static void add_overload(kc_cel_env *env, const kc__cel_overload *overload)
{
    kc_str name = kc_cstr(overload->function);
    kc__cel_function *function = kc_map_get(&env->functions, name);
    if (!function) {
        function = kc_arena_new(&env->arena, kc__cel_function);
        kc_map_put(&env->functions, name, function);
    }
    /* Room doubles, so a function with many overloads is not copied for each. */
    if ((function->n & (function->n - 1)) == 0) {
        const kc__cel_overload **more =
            kc_arena_alloc(&env->arena, KC_MAX(2 * function->n, 1) * sizeof(*more));
        if (function->n)
            memcpy(more, function->overloads, function->n * sizeof(*more));
        function->overloads = more;
    }
    function->overloads[function->n++] = overload;
}

kc_cel_env *kc_cel_env_new(const kc_cel_env_opts *opts)
{
    kc_cel_env *env = kc_new(kc_cel_env);
    env->version = opts && opts->version ? opts->version : 34;
    env->with_bind = opts && opts->with_bind;
    env->with_patches = opts && opts->with_patches;
    env->heterogeneous_literals = opts && opts->heterogeneous_literals;
    for (size_t i = 0; i < KC_COUNT(libraries); i++)
        for (size_t j = 0; j < libraries[i]->n && kc__cel_env_has(env, libraries[i]->feature); j++)
            add_overload(env, &libraries[i]->overloads[j]);
    return env;
}

kc_cel_env *kc_cel_env_free(kc_cel_env *env)
{
    if (!env)
        return NULL;
    kc_map_done(&env->functions);
    kc_arena_done(&env->arena);
    free(env);
    return NULL;
}

const kc__cel_function *kc__cel_env_function(const kc_cel_env *env, kc_str name)
{
    if (name.n && name.p[0] == '.')
        name = kc_str_sub(name, 1, name.n);
    return kc_map_get(&env->functions, name);
}
