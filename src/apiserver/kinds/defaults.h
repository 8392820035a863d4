/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defaults.h: default values of absent fields. Each type with defaults has a constant table; a row
 * names a field, its default value, and the table of the type below the field. So a container gets
 * the same defaults in a Pod, in a Deployment's template and in a CronJob's.
 *
 *     static const kc__defaults_entry probe[] = {
 *         {"timeoutSeconds", "1"}, {"periodSeconds", "10"}, {"httpGet", .of = &http_get}};
 *     static const kc__defaults probe_defaults = KC__DEFAULTS(probe);
 *
 * Defaulting runs on create, update and patch: after decoding has given the object its type, and
 * before any other code reads the object. The walk follows only rows with a table of their own, so
 * parts without defaults cost nothing.
 */
#ifndef KC_APISERVER_DEFAULTS_H
#define KC_APISERVER_DEFAULTS_H

#include "kc/edit.h"
#include "kc/mem.h"

typedef struct kc__defaults kc__defaults;

typedef struct kc__defaults_entry {
    const char *field;
    const char *json; /* The default as JSON: a scalar or {}, set when the field is absent or null.
                         NULL: no default. */
    const kc__defaults *of; /* Defaults of the field's value, set by then: of the object, or of each
                               item of a list. */
} kc__defaults_entry;

struct kc__defaults {
    const kc__defaults_entry *list;
    size_t n;
    /* Sets defaults that depend on more than one field. Runs first. `object` has this type. */
    void (*code)(kc_edit *edit, kc_node *object);
};

#define KC__DEFAULTS(of) {.list = of, .n = KC_COUNT(of)}

/* Sets the defaults of all absent fields of the object. */
void kc__defaults_apply(const kc__defaults *defaults, kc_edit *edit, kc_node *object);

/* For `code`: sets a member that is absent or null to `json`, a scalar or {}. Returns the
 * member's value after that. */
kc_node *kc__defaults_set(kc_edit *edit, kc_node *object, const char *name, const char *json);
/* Whether a member is absent or null. */
bool kc__defaults_node_absent(const kc_node *object, const char *name);
/* Returns the text of a member; empty if the member is no string. */
kc_str kc__defaults_node_text(const kc_node *object, const char *name);

/* ---- defaults of types that several kinds contain ---- */

extern const kc__defaults kc__defaults_pod_template; /* pod_defaults.c */
extern const kc__defaults kc__defaults_pod_spec;
extern const kc__defaults kc__defaults_volume; /* volume_defaults.c */
extern const kc__defaults kc__defaults_persistent_volume_spec;
extern const kc__defaults kc__defaults_claim_spec;
extern const kc__defaults kc__defaults_claim;
extern const kc__defaults kc__defaults_field_ref;

#endif
