/* SPDX-License-Identifier: Apache-2.0 */
/* store_location.h: a store that a command of `kc store` has open, with its encryption. */
#ifndef KC_CMD_STORE_LOCATION_H
#define KC_CMD_STORE_LOCATION_H

#include "store.h"

#include "apiserver/maintenance/location.h"
#include "apiserver/storage/encryption/encryption.h"

/* Zero is closed. */
typedef struct kc__cli_opened_store {
    kc__maintenance_location location;
    kc__storage *storage;
    kc__encryption *encryption; /* NULL: no configuration was found. */
} kc__cli_opened_store;

/* Parses a location and opens its store; `existing`: it must exist. Reads the encryption
 * configuration of --encryption-provider-config, or encryption.yaml in the data directory. Blocks.
 */
int kc__cli_store_open(kc__cli_opened_store *store, const char *location, bool existing,
                       const kc__cli_store_options *o, kc_error *err);
/* Opens the store of a location that is parsed. Blocks. */
int kc__cli_store_open_at(const kc__maintenance_location *location, bool existing,
                          const kc__cli_store_options *o, kc__storage **ret_storage, kc_error *err);
void kc__cli_opened_store_done(kc__cli_opened_store *store);

/* Shows progress on a terminal: "\r120 lines". Nothing on other files. */
void kc__cli_store_progress(size_t n, void *noun);
/* Ends the line of progress. */
void kc__cli_store_progress_end(void);

#endif
