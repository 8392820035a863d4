/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge.h: emptying a namespace: what the files of this controller share.
 *
 *     kc_scoped(kc__purge) purge = {.client = live, .clock = clock, .ns = ns, .deleted_at = at};
 *     kc__purge_run(&purge);                      asks for deletions, counts what is still there
 *     kc__purge_conditions(&purge, edit);         and says so
 */
#ifndef KC_CONTROLLERS_PURGE_H
#define KC_CONTROLLERS_PURGE_H

#include "kc/client.h"
#include "kc/edit.h"
#include "kc/map.h"
#include "kc/time.h"

/* A resource that objects of a namespace can be of. */
typedef struct kc__content {
    const kc_kind *kind;
    bool can_list, can_delete_all;
    bool preferred;
    size_t remaining; /* Objects that are still there. */
} kc__content;

/* Zeroed but for the first four; kc__purge_done frees what the others hold. */
typedef struct kc__purge {
    kc_client *client; /* Reads from the server. */
    const kc_clock *clock;
    const char *ns;
    kc_time deleted_at;

    kc_arena arena;              /* Of all text that follows. */
    KC_VEC(kc__content) content; /* In the order of discovery. */
    const char *undiscovered;    /* Why not all resources are known; NULL: they are. */
    const char *unparsed;        /* A group or version that is none; NULL: all are. */
    KC_VEC(const char *) failures;
    kc_map finalizers; /* To size_t *: objects that still have it. */
    int64_t estimate;  /* Seconds until it is worth to look again. 0: nothing is left. */
} kc__purge;

void kc__purge_done(kc__purge *purge);

/* Finds out what a namespace can have in it: purge_discover.c. */
void kc__purge_discover(kc__purge *purge);
/* All of it: purge.c. True when nothing failed; whether something remains is in `estimate`. */
bool kc__purge_run(kc__purge *purge);
/* Puts the five conditions into status.conditions: purge_conditions.c. */
void kc__purge_conditions(const kc__purge *purge, kc_edit *edit);
/* What failed, as one error. Negative. */
int kc__purge_error(const kc__purge *purge, kc_error *err);

#endif
