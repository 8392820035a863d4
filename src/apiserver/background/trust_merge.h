/* SPDX-License-Identifier: Apache-2.0 */
/* trust_merge.h: what several servers with one storage trust: the union of what each publishes. */
#ifndef KC_APISERVER_TRUST_MERGE_H
#define KC_APISERVER_TRUST_MERGE_H

#include "kc/buf.h"

/*
 * Appends the published value of a member with what this server adds: certificates in PEM (a name
 * that ends in "-ca-file"), or a JSON array of strings. It equals `published` if nothing is
 * missing. A published value that is neither is replaced by `own`.
 */
void kc__bootstrap_merge_trust(const char *name, kc_str published, kc_str own, kc_buf *out);

#endif
