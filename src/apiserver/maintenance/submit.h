/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h: many operations at a time on a shared backend. */
#ifndef KC_APISERVER_MAINTENANCE_SUBMIT_H
#define KC_APISERVER_MAINTENANCE_SUBMIT_H

#include "apiserver/storage/storage.h"

/* Stores operations on different keys, each as a group of its own and in any order: a commit of the
 * backend would send the next one only after the answer to the one before. Sets a result for each.
 * Negative: at least one has no answer, and any of them may be stored. Blocks. */
int kc__maintenance_submit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                           kc__storage_result *ret_results, kc_error *err);

#endif
