/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file.h: the backend that keeps everything in one folder of this machine, in LMDB. See
 * docs/internals/storage.md.
 */
#ifndef KC_APISERVER_STORAGE_FILE_H
#define KC_APISERVER_STORAGE_FILE_H

#include "apiserver/storage/storage.h"

extern const kc_storage_backend kc_storage_file;

#endif
