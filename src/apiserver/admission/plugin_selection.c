/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_selection.c: selects admission plugins by the names that Kubernetes gives them. Rows that
 * are parts of this server under no name of Kubernetes (`builtin`) always run.
 */
#include "apiserver/admission/plugin_selection.h"

#include "apiserver/admission/chain/plugins.h"
#include "kc/buf.h"

static kc__admission_selection bit_of_plugin(size_t i)
{
    return (kc__admission_selection)1 << i;
}

const char *kc__admission_selectable_plugin(size_t i)
{
    for (size_t at = 0; at < kc__admission_n_plugins; at++)
        if (!kc__admission_plugins[at].builtin && i-- == 0)
            return kc__admission_plugins[at].name;
    return NULL;
}

static const kc__admission_plugin *find_plugin(kc_str name)
{
    for (size_t i = 0; i < kc__admission_n_plugins; i++)
        if (!kc__admission_plugins[i].builtin && kc_str_is(name, kc__admission_plugins[i].name))
            return &kc__admission_plugins[i];
    return NULL;
}

static int unknown_plugin(kc_str name, kc_error *err)
{
    kc_scoped(kc_buf) accepted = {0};
    KC_VEC(const char *) names = {0};
    const char *one;
    for (size_t i = 0; (one = kc__admission_selectable_plugin(i)); i++) {
        kc_buf_printf(&accepted, "%s%s", i ? ", " : "", one);
        kc_vec_push(&names, one);
    }
    const char *nearest = kc_str_nearest(name, names.items, names.n);
    if (nearest)
        kc_buf_printf(&accepted, "; did you mean '%s'?", nearest);
    kc_vec_done(&names);
    return kc_error_set(err, KC_INVALID, "invalid value '%.*s': must be one of %s", KC_ARG(name),
                        kc_buf_cstr(&accepted));
}

int kc__admission_selection_parse(const char *names, kc__admission_selection *selection,
                                  kc_error *err)
{
    kc_str rest = kc_cstr(*names ? names : NULL);
    while (rest.p) {
        const kc_str name = kc_str_trim(kc_str_cut(&rest, ','));
        const kc__admission_plugin *plugin = find_plugin(name);
        if (!plugin)
            return unknown_plugin(name, err);
        *selection |= bit_of_plugin((size_t)(plugin - kc__admission_plugins));
    }
    return 0;
}

kc__admission_selection kc__admission_selection_of(kc__admission_selection enabled,
                                                   kc__admission_selection disabled)
{
    kc__admission_selection all = 0;
    for (size_t i = 0; i < kc__admission_n_plugins; i++)
        if (!kc__admission_plugins[i].off_by_default)
            all |= bit_of_plugin(i);
    return (all | enabled) & ~disabled;
}
