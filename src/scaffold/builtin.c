/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.c: Kubernetes' built-in kinds, for controllers and webhooks of a kind that no project
 * defines. The table is that of kc/kinds.h: a kind added there is known here.
 */
#include "scaffold/builtin.h"

#include "kc/kinds.h"

#define ROW(name, group, version, kind, plural, singular, namespaced) \
    {"kc_kind_" #name, group, version, kind, plural, namespaced},
static const kc__scaffold_builtin builtins[] = {KC_KINDS_BUILTIN(ROW)};
#undef ROW

static bool is_group(const char *group, kc_str name)
{
    kc_str full = kc_cstr(group), rest = full;
    if (!full.n)
        return kc_str_is(name, "core");
    return kc_str_eq(name, full) || kc_str_eq(name, kc_str_cut(&rest, '.'));
}

const kc__scaffold_builtin *kc__scaffold_builtin_find(kc_str group, kc_str version, kc_str kind)
{
    for (size_t i = 0; i < KC_COUNT(builtins); i++) {
        const kc__scaffold_builtin *b = &builtins[i];
        if (is_group(b->group, group) && kc_str_is(version, b->version) && kc_str_is(kind, b->kind))
            return b;
    }
    return NULL;
}
