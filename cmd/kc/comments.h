/* SPDX-License-Identifier: Apache-2.0 */
/* comments.h: a comment of C as one of YAML. */
#ifndef KC_CMD_COMMENTS_H
#define KC_CMD_COMMENTS_H

#include "kc/buf.h"

/* Appends the text with its comments of C as lines that begin with '#'; other lines, such as those
 * that do already, stay as they are. */
void kc_yaml_comments(kc_str text, kc_buf *out);

#endif
