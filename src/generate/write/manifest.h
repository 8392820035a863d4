/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h: files of several objects, formatted as by controller-gen. */
#ifndef KC_GENERATE_MANIFEST_H
#define KC_GENERATE_MANIFEST_H

#include "kc/buf.h"
#include "kc/error.h"

/* Appends "---" and an object, given as JSON, as YAML: keys sorted. */
int kc__gen_manifest_add(kc_buf *yaml, kc_str json, kc_error *err);

/* Appends "name":["a","b"], after a comma if necessary. */
void kc__gen_manifest_list(kc_buf *json, const char *name, const kc_str *items, size_t n);
/* The same for one text. */
void kc__gen_manifest_text(kc_buf *json, const char *name, kc_str text);

#endif
