/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge.h: deleting the content of a namespace; shared by the files of this controller.
 *
 *     kc_scoped(kc__purge) purge = {.client = live, .clock = clock, .ns = ns, .deleted_at = at};
 *     kc__purge_run(&purge);                      deletes, counts what remains
 *     kc__purge_conditions(&purge, edit);         reports the result in status.conditions
 */
#ifndef KC_CONTROLLERS_PURGE_H
#define KC_CONTROLLERS_PURGE_H

#include "kc/client.h"
#include "kc/edit.h"
#include "kc/map.h"
#include "kc/time.h"

/* A namespaced resource. */
typedef struct kc__purge_content {
    const kc_kind *kind;
    bool can_list, can_delete_all;
    bool preferred;
    size_t remaining; /* Number of remaining objects. */
} kc__purge_content;

/* The caller sets the first four fields; kc__purge_done frees the others. */
typedef struct kc__purge {
    kc_client *client; /* Reads from the server, not from a cache. */
    const kc_clock *clock;
    const char *ns;
    kc_time deleted_at;

    kc_arena arena;                    /* Owns all text below. */
    KC_VEC(kc__purge_content) content; /* In discovery order. */
    const char *undiscovered;          /* Why discovery was incomplete; NULL: it was complete. */
    const char *unparsed;              /* An invalid group or version; NULL: none. */
    KC_VEC(const char *) failures;
    kc_map finalizers; /* To size_t *: number of remaining objects with this finalizer. */
    int64_t estimate;  /* Seconds until the next attempt is useful. 0: nothing remains. */
} kc__purge;

void kc__purge_done(kc__purge *purge);

/* Discovers the namespaced resources: purge_discover.c. */
void kc__purge_discover(kc__purge *purge);
/* Runs the purge: purge.c. True if nothing failed; `estimate` tells whether content remains. */
bool kc__purge_run(kc__purge *purge);
/* Sets the five conditions in status.conditions: purge_conditions.c. */
void kc__purge_conditions(const kc__purge *purge, kc_edit *edit);
/* Combines all failures into one error. Negative. */
int kc__purge_error(const kc__purge *purge, kc_error *err);

#endif
