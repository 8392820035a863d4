/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h: files of several objects, in the form controller-gen gives them. */
#ifndef KC_GENERATE_MANIFEST_H
#define KC_GENERATE_MANIFEST_H

#include "kc/buf.h"
#include "kc/error.h"

/* Appends "---" and an object, given as JSON, as YAML: keys sorted. */
int kc__manifest_add(kc_buf *yaml, kc_str json, kc_error *err);

/* Appends "name":["a","b"], behind a comma if something stands before it. */
void kc__manifest_list(kc_buf *json, const char *name, const kc_str *items, size_t n);
/* The same for one text. */
void kc__manifest_text(kc_buf *json, const char *name, kc_str text);

#endif
