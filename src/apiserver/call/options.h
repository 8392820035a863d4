/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: the options of a request: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions
 * and ListOptions of meta.k8s.io, read from the query (DeleteOptions also from the body) and
 * validated with Kubernetes' messages.
 */
#ifndef KC_APISERVER_OPTIONS_H
#define KC_APISERVER_OPTIONS_H

#include "http/message/query.h"
#include "kc/field_error.h"
#include "kc/field_selector.h"
#include "kc/object.h"
#include "kc/selector.h"

typedef enum kc__rest_field_validation {
    KC__REST_VALIDATE_WARN, /* The default. */
    KC__REST_VALIDATE_IGNORE,
    KC__REST_VALIDATE_STRICT,
} kc__rest_field_validation;

typedef enum kc__rest_propagation {
    KC__REST_PROPAGATE_DEFAULT,
    KC__REST_PROPAGATE_BACKGROUND,
    KC__REST_PROPAGATE_FOREGROUND,
    KC__REST_PROPAGATE_ORPHAN,
} kc__rest_propagation;

typedef enum kc__rest_version_match {
    KC__REST_MATCH_UNSET,
    KC__REST_MATCH_EXACT,
    KC__REST_MATCH_NOT_OLDER,
} kc__rest_version_match;

/* A boolean that may be absent. */
typedef enum kc__rest_tristate { KC__REST_UNSET, KC__REST_NO, KC__REST_YES } kc__rest_tristate;

/* The options of all verbs; a verb uses its part. Strings are allocated in the arena. */
typedef struct kc__rest_options {
    /* create, update, patch, delete */
    bool dry_run;
    kc_str field_manager;
    kc__rest_field_validation validation;
    kc__rest_tristate force;

    /* delete */
    kc__rest_propagation propagation;
    kc__rest_tristate orphan_dependents;
    bool has_grace;
    int64_t grace_seconds;
    kc_str uid, precondition_version; /* Required values; p is NULL: any value. */

    /* list, watch, deletecollection */
    kc_selector *labels; /* NULL: everything. Freed by kc__rest_options_done. */
    kc_field_selector *fields;
    int64_t limit;
    kc_str continue_token;
    kc_str resource_version;
    kc__rest_version_match match;
    bool bookmarks;
    kc__rest_tristate initial_events;
    int64_t timeout_seconds; /* 0: absent. */
} kc__rest_options;

/* Frees the selectors. */
void kc__rest_options_done(kc__rest_options *options);

/* Options of writes: `kind` is "CreateOptions" or "UpdateOptions". 0, or negative: an Invalid error
 * about the options. */
int kc__rest_options_read_write(const kc__query *query, const char *kind, kc__rest_options *ret,
                                kc_error *err);
/* PatchOptions: of an apply, which needs a field manager, or of another patch, which cannot be
 * forced. */
int kc__rest_options_read_patch(const kc__query *query, bool apply, kc__rest_options *ret,
                                kc_error *err);
/* Options of a delete: from the body, or without one (NULL) from the query. */
int kc__rest_options_read_delete(const kc__query *query, const kc_object *body, kc_arena *arena,
                                 kc__rest_options *ret, kc_error *err);
/* Limits of a label or field selector: bytes of its text, number of requirements, number of values
 * in all requirements. */
#define KC__REST_MAX_SELECTOR_BYTES        ((size_t)16 << 10)
#define KC__REST_MAX_SELECTOR_REQUIREMENTS ((size_t)256)
#define KC__REST_MAX_SELECTOR_VALUES       ((size_t)1024)

/* Options of a list or watch. */
int kc__rest_options_read_list(const kc__query *query, bool watch, kc__rest_options *ret,
                               kc_error *err);

#endif
