/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_record.h: the format of the file backend's data: a record for each change, and one for the
 * state of the store. Numbers are big-endian.
 *
 *     change   0 checksum   8 previous revision   16 wall time   24 verb   25 length of the key
 *              27 key, value to the end
 *     state    0 "KCST"     4 layout version      8 revision     16 compacted   24 history bytes
 *
 * The checksum covers the revision under which a record is stored and everything behind the
 * checksum, so both a flipped bit and a misplaced record are detected.
 */
#ifndef KC_APISERVER_STORED_RECORD_H
#define KC_APISERVER_STORED_RECORD_H

#include "apiserver/storage/storage.h"

/* 1: keys with the group of every resource. 2: keys as in Kubernetes. 3: with a journal. The
 * records are the same in all of them. */
#define KC__STORAGE_LAYOUT_VERSION 3
/* The first layout with keys as in Kubernetes, and the first with a journal. */
#define KC__LAYOUT_KEYS             2
#define KC__LAYOUT_JOURNAL          3
#define KC__STORAGE_FILE_STATE_SIZE 32

/* Borrows its strings. */
typedef struct kc__storage_record {
    kc__storage_verb verb;
    uint64_t previous; /* 0: the key did not exist. */
    int64_t wall;      /* Nanoseconds since 1970. */
    kc_str key, value;
} kc__storage_record;

typedef struct kc__storage_file_state {
    uint32_t version;
    uint64_t revision, compacted;
    uint64_t history_bytes; /* Of all records after `compacted`. */
} kc__storage_file_state;

size_t kc__storage_record_size(const kc__storage_record *record);
/* Writes exactly kc__storage_record_size bytes. */
void kc__storage_record_write(const kc__storage_record *record, uint64_t revision, char *out);
/* Decodes a record that points into `bytes`. Returns false if they are not what
 * kc__storage_record_write wrote for this revision. */
bool kc__storage_record_read(kc_str bytes, uint64_t revision, kc__storage_record *ret_record);
/* Sets the checksum in `bytes`, which must hold at least a record's head. */
void kc__storage_record_seal(char *bytes, size_t n, uint64_t revision);

void kc__storage_file_state_write(const kc__storage_file_state *state,
                                  char out[KC__STORAGE_FILE_STATE_SIZE]);
/* Returns false if the bytes are not a state. For a newer version only `version` is read. */
bool kc__storage_file_state_read(kc_str bytes, kc__storage_file_state *ret_state);

/* Checksum of n bytes; the seed distinguishes what they are. */
uint64_t kc__storage_checksum(uint64_t seed, const char *p, size_t n);

void kc__storage_put_u64(char *out, uint64_t number);
uint64_t kc__storage_get_u64(const char *bytes);

#endif
