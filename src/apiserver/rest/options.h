/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: the parameters of a request: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions
 * and ListOptions of meta.k8s.io, from the query (and for deletes from the body), checked in
 * Kubernetes' words.
 */
#ifndef KC_APISERVER_OPTIONS_H
#define KC_APISERVER_OPTIONS_H

#include "http/query.h"
#include "kc/field_error.h"
#include "kc/field_selector.h"
#include "kc/object.h"
#include "kc/selector.h"

typedef enum kc__field_validation {
    KC__VALIDATE_WARN, /* The default. */
    KC__VALIDATE_IGNORE,
    KC__VALIDATE_STRICT,
} kc__field_validation;

typedef enum kc__propagation {
    KC__PROPAGATE_DEFAULT,
    KC__PROPAGATE_BACKGROUND,
    KC__PROPAGATE_FOREGROUND,
    KC__PROPAGATE_ORPHAN,
} kc__propagation;

typedef enum kc__version_match {
    KC__MATCH_UNSET,
    KC__MATCH_EXACT,
    KC__MATCH_NOT_OLDER,
} kc__version_match;

/* A yes or no that may be absent. */
typedef enum kc__maybe { KC__UNSET, KC__NO, KC__YES } kc__maybe;

/* All of it; a verb uses its part. Texts live in the arena. */
typedef struct kc__options {
    /* create, update, patch, delete */
    bool dry_run;
    kc_str field_manager;
    kc__field_validation validation;
    kc__maybe force;

    /* delete */
    kc__propagation propagation;
    kc__maybe orphan_dependents;
    bool has_grace;
    int64_t grace_seconds;
    kc_str uid, precondition_version; /* What it must be; without p: anything. */

    /* list, watch, deletecollection */
    kc_selector *labels; /* NULL: everything. To be freed. */
    kc_field_selector *fields;
    int64_t limit;
    kc_str continue_token;
    kc_str resource_version;
    kc__version_match match;
    bool bookmarks;
    kc__maybe initial_events;
    int64_t timeout_seconds; /* 0: not given. */
} kc__options;

/* Frees the selectors. */
void kc__options_done(kc__options *options);

/* Of writes: `kind` is "CreateOptions", …. 0, or negative: an Invalid error about the options. */
int kc__options_read_write(const kc__query *query, const char *kind, kc__options *ret,
                           kc_error *err);
/* Of a delete: from the body, or where there is none (NULL) from the query. */
int kc__options_read_delete(const kc__query *query, const kc_object *body, kc_arena *arena,
                            kc__options *ret, kc_error *err);
/* Of a list or watch. */
int kc__options_read_list(const kc__query *query, bool watch, kc__options *ret, kc_error *err);

#endif
