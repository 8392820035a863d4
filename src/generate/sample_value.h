/* SPDX-License-Identifier: Apache-2.0 */
/* sample_value.h: texts and numbers that satisfy a schema. */
#ifndef KC_GENERATE_SAMPLE_VALUE_H
#define KC_GENERATE_SAMPLE_VALUE_H

#include "generate/schema.h"

/* A piece of the schema itself or, where it has none, of what it combines in allOf. */
kc_str kc__sample_piece(const kc__schema *schema, kc__schema_piece piece);
/* A number of it; false where there is none. Of several limits the narrowest. */
bool kc__sample_limit(const kc__schema *schema, kc__schema_piece piece, double *ret);
/* The same where it counts something: from 0 to `most`; 0 where there is none. */
size_t kc__sample_count(const kc__schema *schema, kc__schema_piece piece, size_t most);

/*
 * Appends a JSON string or number that the schema allows, if one can be found; else one that it
 * does not, which validation will tell. `name` is what the text is made of; values of different
 * `nth` are different where that is possible.
 */
void kc__sample_text(const kc__schema *schema, kc_str name, size_t nth, kc_buf *out);
void kc__sample_number(const kc__schema *schema, size_t nth, kc_buf *out);

/*
 * Appends a text that matches a pattern, with `more` repetitions of what may be repeated than are
 * needed. False where the pattern has something that is not simple (classes of Unicode, words'
 * ends); the caller checks what comes out.
 */
bool kc__sample_pattern(kc_str pattern, size_t more, size_t nth, kc_buf *out);

#endif
