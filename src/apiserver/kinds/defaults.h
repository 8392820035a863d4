/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defaults.h: what a field is when the client does not say. A constant table for each type that has
 * such fields; a line names a field, its value, and the table of what is below it, so that a
 * container gets the same defaults in a Pod, a Deployment's template and a CronJob's.
 *
 *     static const kc__default probe[] = {
 *         {"timeoutSeconds", "1"}, {"periodSeconds", "10"}, {"httpGet", .of = &http_get}};
 *     static const kc__defaults probe_defaults = KC__DEFAULTS(probe);
 *
 * They are filled in before anybody looks at the object: after it has its type, on create, update
 * and patch. The walk follows only lines with a table of their own, so what has no defaults below
 * costs nothing.
 */
#ifndef KC_APISERVER_DEFAULTS_H
#define KC_APISERVER_DEFAULTS_H

#include "kc/edit.h"
#include "kc/mem.h"

typedef struct kc__defaults kc__defaults;

typedef struct kc__default {
    const char *field;
    const char *json; /* A scalar as JSON, or {}, for when it is absent or null. NULL: none. */
    const kc__defaults *of; /* For what is there then: the object, or each one of a list. */
} kc__default;

struct kc__defaults {
    const kc__default *list;
    size_t n;
    /* What depends on more than one field; runs first. `object` is one of this type. */
    void (*code)(kc_edit *edit, kc_node *object);
};

#define KC__DEFAULTS(of) {.list = of, .n = KC_COUNT(of)}

/* Fills in what the object lacks. */
void kc__defaults_apply(const kc__defaults *defaults, kc_edit *edit, kc_node *object);

/* For code: sets a member that is absent or null to a scalar of JSON or {}; returns what is there
 * then. */
kc_node *kc__default_set(kc_edit *edit, kc_node *object, const char *name, const char *json);
/* Whether a member is absent or null. */
bool kc__node_absent(const kc_node *object, const char *name);
/* A member's text; empty when it is none. */
kc_str kc__node_text(const kc_node *object, const char *name);

/* ---- of types that several kinds have ---- */

extern const kc__defaults kc__pod_template_defaults; /* pod_defaults.c */
extern const kc__defaults kc__pod_spec_defaults;
extern const kc__defaults kc__volume_defaults; /* volume_defaults.c */
extern const kc__defaults kc__persistent_volume_spec_defaults;
extern const kc__defaults kc__claim_spec_defaults;
extern const kc__defaults kc__claim_defaults;
extern const kc__defaults kc__field_ref_defaults;

#endif
