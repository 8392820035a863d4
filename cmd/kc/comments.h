/* SPDX-License-Identifier: Apache-2.0 */
/* comments.h: converts C comments to YAML comments. */
#ifndef KC_CMD_COMMENTS_H
#define KC_CMD_COMMENTS_H

#include "kc/buf.h"

/* Appends the text with its C comments as lines that begin with '#'; other lines, including those
 * that already do, stay unchanged. */
void kc__cli_yaml_comments(kc_str text, kc_buf *out);

#endif
