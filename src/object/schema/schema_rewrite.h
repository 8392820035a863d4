/* SPDX-License-Identifier: Apache-2.0 */
/* schema_rewrite.h: prunes an object, drops its nulls and sets its defaults in one traversal. */
#ifndef KC_OBJECT_SCHEMA_REWRITE_H
#define KC_OBJECT_SCHEMA_REWRITE_H

#include "kc/schema.h"

typedef struct kc__schema_rewrite_opts {
    bool prunes;       /* As kc_schema_prune does with a whole object. */
    bool drops_nulls;  /* As kc_schema_drop_nulls. */
    bool defaults;     /* As kc_schema_default. */
    kc_paths *unknown; /* Receives what kc_schema_unknown reports. May be NULL. Needs `prunes`. */
    const kc_schema_default_opts *budget; /* Of defaults. May be NULL. */
} kc__schema_rewrite_opts;

/*
 * Applies the wanted steps, with the same result as these functions applied one after the other.
 * `view` is a view of the object; it becomes a view of the result. `schema` is a root, or NULL.
 * Returns the object itself if nothing changes; the caller drops the reference. NULL on error (the
 * budget of defaults, a limit of json.h): the view is then unchanged.
 */
kc_object *kc__schema_rewrite(const kc_schema *schema, const kc_object *object, kc_view **view,
                              const kc__schema_rewrite_opts *opts, kc_error *err);

#endif
