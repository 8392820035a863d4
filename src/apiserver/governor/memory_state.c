/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_state.c: the decisions of the governor, without clocks, threads or files, so that the unit
 * test can pass any reading.
 *
 * To change the class of a request: a line in kc__governor_request_class_of.
 */
#include "apiserver/governor/memory_state.h"

#include <string.h>

/* Memory of a decoded body per byte: text, tree (16 bytes per value, and a value may be two bytes
 * of text), the typed copy, the stored text. */
enum { DECODED_FACTOR = 10, REQUEST_BASE = 4096 };

size_t kc__memory_projected(const kc__memory_state *s, size_t more)
{
    size_t since = s->counted > s->counted_at_reading ? s->counted - s->counted_at_reading : 0;
    return s->resident + since + more;
}

kc__memory_level kc__memory_judge(const kc__memory_state *s, size_t more)
{
    size_t projected = kc__memory_projected(s, more);
    if (s->hard && projected > s->hard)
        return KC__MEMORY_HARD;
    return s->soft && projected > s->soft ? KC__MEMORY_SOFT : KC__MEMORY_OK;
}

static bool is_one_of(const char *verb, const char *const *verbs)
{
    for (; *verbs; verbs++)
        if (!strcmp(verb, *verbs))
            return true;
    return false;
}

kc__governor_request_class kc__governor_request_class_of(const kc__governor_request_traits *t)
{
    static const char *const writes[] = {"create", "update", "patch", NULL};
    bool coordinates = kc_str_is(t->group, "coordination.k8s.io");
    if (kc_str_empty(t->resource) || coordinates)
        return KC__GOVERNOR_CLASS_EXEMPT;
    if (!strcmp(t->verb, "watch"))
        return KC__GOVERNOR_CLASS_HEAVY;
    if (!strcmp(t->verb, "list"))
        return t->limit > 0 && t->limit <= KC__GOVERNOR_LIGHT_LIST ? KC__GOVERNOR_CLASS_LIGHT
                                                                   : KC__GOVERNOR_CLASS_HEAVY;
    if (!is_one_of(t->verb, writes))
        return KC__GOVERNOR_CLASS_EXEMPT;
    bool defines = kc_str_is(t->group, "apiextensions.k8s.io");
    return defines || t->body > KC__GOVERNOR_LIGHT_BODY ? KC__GOVERNOR_CLASS_HEAVY
                                                        : KC__GOVERNOR_CLASS_LIGHT;
}

size_t kc__governor_request_cost(size_t body)
{
    return REQUEST_BASE + body * DECODED_FACTOR;
}

bool kc__memory_refuses(kc__memory_level level, kc__governor_request_class request_class)
{
    return request_class != KC__GOVERNOR_CLASS_EXEMPT &&
           (level == KC__MEMORY_HARD ||
            (level == KC__MEMORY_SOFT && request_class == KC__GOVERNOR_CLASS_HEAVY));
}

size_t kc__memory_excess(const kc__memory_state *s)
{
    if (kc__memory_judge(s, 0) != KC__MEMORY_HARD)
        return 0;
    /* The target is halfway between the limits, so that the next small allocation does not cancel
     * again. */
    size_t target = s->soft && s->soft < s->hard ? s->soft + (s->hard - s->soft) / 2 : s->hard;
    return kc__memory_projected(s, 0) - target;
}
