/* SPDX-License-Identifier: Apache-2.0 */
/* go_quote.h: quotes text as Go's errors do, for messages that must be identical. */
#ifndef KC_GO_QUOTE_H
#define KC_GO_QUOTE_H

#include "kc/buf.h"

/* As the time package: appends `text` in double quotes, with control characters and bytes beyond
 * ASCII as \xNN. Long text is truncated and ends with "...". */
void kc__go_quote_bytes(kc_buf *out, kc_str text);

/* As %q: characters that are not printable as \n, \x01, \u200b, others unchanged. Does not
 * truncate. */
void kc__go_quote(kc_buf *out, kc_str text);

/* The code point at *at, which advances; each byte of invalid UTF-8 counts as UINT32_MAX. */
uint32_t kc__go_next_rune(kc_str text, size_t *at);

/* Printable in Go's terms: letters, marks, numbers, punctuation, symbols and the ASCII space. */
bool kc__go_is_printable(uint32_t code);

#endif
