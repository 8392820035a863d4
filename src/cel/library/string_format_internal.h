/* SPDX-License-Identifier: Apache-2.0 */
/* string_format_internal.h: "%s has %d".format([…]). */
#ifndef KC_CEL_FORMAT_INTERNAL_H
#define KC_CEL_FORMAT_INTERNAL_H

#include "cel/value/value_internal.h"

/* The text with its clauses replaced by the elements of a list; an error value on failure. */
kc_cel_value kc__cel_format(kc__cel_eval *ev, kc_str format, kc_cel_value args);

#endif
