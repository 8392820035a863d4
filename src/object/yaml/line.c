/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.c: finds the line of a member, for errors: a view has values, not positions. So the text is
 * parsed again, which is cheap enough for an error.
 */
#include "object/model/object_internal.h"
#include "object/yaml/yaml_internal.h"

typedef struct finder {
    kc__yaml_source *source;
    kc__yaml_event event;
    size_t line; /* Of the member. */
} finder;

static bool yaml_place_next(finder *f)
{
    return kc__yaml_next(f->source, &f->event, NULL) >= 0 && f->event.type != KC__YAML_STREAM_END;
}

/* The current event is the first of a node; afterwards it is its last. */
static bool yaml_place_skip(finder *f)
{
    size_t depth = 0;
    do {
        const kc__yaml_event_type type = f->event.type;
        if (type == KC__YAML_MAPPING || type == KC__YAML_SEQUENCE)
            depth++;
        else if (type == KC__YAML_MAPPING_END || type == KC__YAML_SEQUENCE_END)
            depth--;
    } while (depth && yaml_place_next(f));
    return !depth;
}

/* Descends to the member that `names` names; `rest` is the remaining path. */
static bool yaml_place_find(finder *f, kc_str rest)
{
    while (rest.p) {
        const kc_str name = kc_str_cut(&rest, '.');
        bool found = false;
        if (f->event.type != KC__YAML_MAPPING)
            return false;
        while (!found) {
            if (!yaml_place_next(f) || f->event.type == KC__YAML_MAPPING_END)
                return false;
            found = f->event.type == KC__YAML_SCALAR && kc_str_eq(f->event.value, name);
            f->line = f->event.mark.line;
            if (!found && (!yaml_place_skip(f) || !yaml_place_next(f) || !yaml_place_skip(f)))
                return false;
        }
        if (!yaml_place_next(f))
            return false;
    }
    return true;
}

size_t kc_yaml_line_of(kc_str yaml, const char *names)
{
    kc_auto(kc__yaml_source) *source = kc__yaml_source_new(yaml, 0, NULL);
    finder f = {.source = source};
    if (!source || !yaml_place_next(&f) || f.event.type != KC__YAML_DOCUMENT ||
        !yaml_place_next(&f))
        return 0;
    return yaml_place_find(&f, kc_cstr(names)) ? f.line : 0;
}
