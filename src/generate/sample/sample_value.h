/* SPDX-License-Identifier: Apache-2.0 */
/* sample_value.h: texts and numbers that satisfy a schema. */
#ifndef KC_GENERATE_SAMPLE_VALUE_H
#define KC_GENERATE_SAMPLE_VALUE_H

#include "generate/schema/schema.h"

/* A piece of the schema itself or, if absent, of its allOf parts. */
kc_str kc__gen_sample_piece(const kc__gen_schema *schema, kc__gen_schema_piece piece);
/* A numeric piece; false if absent. Of several limits the narrowest. */
bool kc__gen_sample_limit(const kc__gen_schema *schema, kc__gen_schema_piece piece, double *ret);
/* The same for counts: from 0 to `most`; 0 if absent. */
size_t kc__gen_sample_count(const kc__gen_schema *schema, kc__gen_schema_piece piece, size_t most);

/*
 * Appends a JSON string or number that the schema allows, if one can be found; else one that
 * validation will report. The text is derived from `name`; values of different `nth` differ if
 * possible.
 */
void kc__gen_sample_text(const kc__gen_schema *schema, kc_str name, size_t nth, kc_buf *out);
void kc__gen_sample_number(const kc__gen_schema *schema, size_t nth, kc_buf *out);

/*
 * Appends a text that matches a pattern, with `more` repetitions than required. False if the
 * pattern is too complex (Unicode classes, word boundaries); the caller checks the result.
 */
bool kc__gen_sample_pattern(kc_str pattern, size_t more, size_t nth, kc_buf *out);

#endif
