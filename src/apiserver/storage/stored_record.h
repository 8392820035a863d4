/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_record.h: the bytes the file backend writes: a record for each change, and one for the
 * state of the store. Numbers are big-endian.
 *
 *     change   0 checksum   8 previous revision   16 wall time   24 verb   25 length of the key
 *              27 key, value to the end
 *     state    0 "KCST"     4 layout version      8 revision     16 compacted   24 history bytes
 *
 * The checksum covers the revision a record is stored under and all that follows it, so a flipped
 * bit and a record in a wrong place are both noticed.
 */
#ifndef KC_APISERVER_STORED_RECORD_H
#define KC_APISERVER_STORED_RECORD_H

#include "apiserver/storage/storage.h"

#define KC__LAYOUT_VERSION 1
#define KC__STATE_SIZE     32

/* Borrows its texts. */
typedef struct kc__record {
    kc_storage_verb verb;
    uint64_t previous; /* 0: the key did not exist. */
    int64_t wall;      /* Nanoseconds since 1970. */
    kc_str key, value;
} kc__record;

typedef struct kc__state {
    uint32_t version;
    uint64_t revision, compacted;
    uint64_t history_bytes; /* Of all records after `compacted`. */
} kc__state;

size_t kc__record_size(const kc__record *record);
/* Writes exactly that many bytes. */
void kc__record_write(const kc__record *record, uint64_t revision, char *out);
/* Points into `bytes`. False when they are not what kc__record_write wrote for this revision. */
bool kc__record_read(kc_str bytes, uint64_t revision, kc__record *ret_record);
/* Puts the checksum that fits into bytes that are at least a record's head. */
void kc__record_seal(char *bytes, size_t n, uint64_t revision);

void kc__state_write(const kc__state *state, char out[KC__STATE_SIZE]);
/* False when it is not a state at all. Of another version only `version` is read. */
bool kc__state_read(kc_str bytes, kc__state *ret_state);

/* Of n bytes; the seed says what they are. */
uint64_t kc__checksum(uint64_t seed, const char *p, size_t n);

void kc__put_u64(char *out, uint64_t number);
uint64_t kc__get_u64(const char *bytes);

#endif
