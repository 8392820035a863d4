/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_cases.h: cases of the merge engine (src/object/fields), as JSON: one operation with its
 * inputs, and what the engine makes of it. The same cases run against upstream's Go code
 * (scripts/compare-fields) and, recorded with its results, in a unit test.
 *
 *     {"op":"sets","a":FIELDS,"b":FIELDS}                           set algebra, FieldsV1
 *     {"op":"typed","definitions":{…},"type":T,"object":…,"a":FIELDS}  validation, sets of values
 *     {"op":"compare","definitions":{…},"type":T,"live":…,"object":…}  comparison, merge
 *     {"op":"update","versions":{V:{…}},"type":T,"version":V,"live":…,"object":…,"manager":M,
 *      "managers":{M:{"version":V,"applied":…,"set":FIELDS}},"ignored":{V:FIELDS}}
 *     {"op":"apply", the same, "force":…}
 *     {"op":"managed","operation":"Apply", as above, but with managedFields in the live object}
 *
 * Versions convert into each other: apiVersion changes, and the field renamed1 of v1 is renamed2 in
 * v2. There are no other versions than v1 and v2.
 */
#ifndef KC_FIELDS_CASES_H
#define KC_FIELDS_CASES_H

#include "kc/buf.h"
#include "kc/view.h"

/* Appends the result of a case as one line of JSON, without a newline. */
void fields_case_run(kc_buf *out, const kc_value *test);

#endif
