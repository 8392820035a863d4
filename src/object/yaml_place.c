/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_place.c: in which line a member stands, for errors about what was read: a view knows values,
 * not where they came from. So the text is read once more, which costs nothing that matters where
 * there is an error to tell.
 */
#include "object/object_internal.h"
#include "object/yaml_internal.h"

typedef struct finder {
    kc__yaml_source *source;
    kc__yaml_event event;
    size_t line; /* Of what was found. */
} finder;

static bool next(finder *f)
{
    return kc__yaml_next(f->source, &f->event, NULL) >= 0 && f->event.type != KC__YAML_STREAM_END;
}

/* The event is a node's first; afterwards it is its last. */
static bool skip(finder *f)
{
    size_t depth = 0;
    do {
        const kc__yaml_event_type type = f->event.type;
        if (type == KC__YAML_MAPPING || type == KC__YAML_SEQUENCE)
            depth++;
        else if (type == KC__YAML_MAPPING_END || type == KC__YAML_SEQUENCE_END)
            depth--;
    } while (depth && next(f));
    return !depth;
}

/* Goes down to the member that `names` names: what is left of it is in `rest`. */
static bool find(finder *f, kc_str rest)
{
    while (rest.p) {
        const kc_str name = kc_str_cut(&rest, '.');
        bool found = false;
        if (f->event.type != KC__YAML_MAPPING)
            return false;
        while (!found) {
            if (!next(f) || f->event.type == KC__YAML_MAPPING_END)
                return false;
            found = f->event.type == KC__YAML_SCALAR && kc_str_eq(f->event.value, name);
            f->line = f->event.mark.line;
            if (!found && (!skip(f) || !next(f) || !skip(f)))
                return false;
        }
        if (!next(f))
            return false;
    }
    return true;
}

size_t kc_yaml_line_of(kc_str yaml, const char *names)
{
    kc_auto(kc__yaml_source) *source = kc__yaml_source_new(yaml, 0, NULL);
    finder f = {.source = source};
    if (!source || !next(&f) || f.event.type != KC__YAML_DOCUMENT || !next(&f))
        return 0;
    return find(&f, kc_cstr(names)) ? f.line : 0;
}
