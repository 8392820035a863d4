/* SPDX-License-Identifier: Apache-2.0 */
/* go_quote.h: text in quotes as Go's errors show it, for messages that must read the same. */
#ifndef KC_GO_QUOTE_H
#define KC_GO_QUOTE_H

#include "kc/buf.h"

/* As the time package does it: appends `text` in double quotes, with every byte that is not ASCII
 * or a control character as \xNN. Long text is cut, with "..." behind it. */
void kc__go_quote_bytes(kc_buf *out, kc_str text);

/* As %q does it: characters that are not printable as \n, \x01, \u200b, others as they are. All of
 * it, however long. */
void kc__go_quote(kc_buf *out, kc_str text);

/* The code point at *at, which moves behind it; bytes that are no UTF-8 count one by one as
 * UINT32_MAX. */
uint32_t kc__next_code(kc_str text, size_t *at);

/* What Go calls printable: letters, marks, numbers, punctuation, symbols and the ASCII space. */
bool kc__is_printable(uint32_t code);

#endif
