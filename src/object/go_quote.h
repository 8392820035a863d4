/* SPDX-License-Identifier: Apache-2.0 */
/* go_quote.h: text in quotes as Go's errors show it, for messages that must read the same. */
#ifndef KC_GO_QUOTE_H
#define KC_GO_QUOTE_H

#include "kc/buf.h"

/* Appends `text` in double quotes, with every byte that is not printable ASCII as \xNN. Long text
 * is cut, with "..." behind it. */
void kc__go_quote(kc_buf *out, kc_str text);

#endif
