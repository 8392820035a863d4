/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_key_layout_1.h: keys of layout 1, which older versions of the file backend wrote.
 *
 *     layout 1    /registry/core/pods/default/web      group and plural
 *     layout 2    /registry/pods/default/web           as in Kubernetes
 *
 * Only the migration of old stores (file_migrate.c) uses it. Any thread.
 */
#ifndef KC_APISERVER_STORED_KEY_LAYOUT_1_H
#define KC_APISERVER_STORED_KEY_LAYOUT_1_H

#include "kc/buf.h"
#include "kc/str.h"

/* Appends the layout 2 form of a layout 1 key. Returns false, and appends nothing, when both
 * layouts have the same key. Linear in the number of built-in resources. */
bool kc__storage_key_migrate(kc_buf *out, kc_str key);

#endif
