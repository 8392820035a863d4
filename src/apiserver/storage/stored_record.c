/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_record.c: encodes and decodes records; see the picture in stored_record.h.
 *
 * Decoding trusts no input: a file may have been damaged by its disk or by an editor, and anything
 * other than what the encoder would have written is refused. Encoding a decoded record yields the
 * same bytes (tests/fuzz/stored_record.c).
 *
 * The checksum is a custom one that processes eight bytes per step: each step is a bijection of the
 * state, so a change of a single word is always detected, and any other change is missed with a
 * probability of 2^-64. It protects against accidents, not against an attacker, who could write a
 * valid record as well.
 *
 * To change the layout: raise KC__STORAGE_LAYOUT_VERSION, and add the migration of the older one to
 * file_migrate.c.
 */
#include "apiserver/storage/stored_record.h"

#include <assert.h>

enum { AT_PREVIOUS = 8, AT_WALL = 16, AT_VERB = 24, AT_KEY_LENGTH = 25, AT_KEY = 27 };

static const char state_magic[4] = {'K', 'C', 'S', 'T'};

void kc__storage_put_u64(char *out, uint64_t number)
{
    number = __builtin_bswap64(number);
    memcpy(out, &number, sizeof(number));
}

uint64_t kc__storage_get_u64(const char *bytes)
{
    uint64_t number;
    memcpy(&number, bytes, sizeof(number));
    return __builtin_bswap64(number);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are swapped to be big-endian");

static uint64_t mix(uint64_t state, uint64_t word)
{
    state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return state ^ state >> 32;
}

uint64_t kc__storage_checksum(uint64_t seed, const char *p, size_t n)
{
    uint64_t state = mix(mix(0, seed), n), word;
    for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        state = mix(state, word);
    }
    word = 0;
    memcpy(&word, p, n);
    return mix(mix(state, word), 0);
}

size_t kc__storage_record_size(const kc__storage_record *record)
{
    return AT_KEY + record->key.n + record->value.n;
}

void kc__storage_record_seal(char *bytes, size_t n, uint64_t revision)
{
    assert(n >= AT_KEY);
    kc__storage_put_u64(bytes,
                        kc__storage_checksum(revision, bytes + AT_PREVIOUS, n - AT_PREVIOUS));
}

static void put_text(char *out, kc_str text)
{
    if (text.n)
        memcpy(out, text.p, text.n);
}

void kc__storage_record_write(const kc__storage_record *record, uint64_t revision, char *out)
{
    kc__storage_put_u64(out + AT_PREVIOUS, record->previous);
    kc__storage_put_u64(out + AT_WALL, (uint64_t)record->wall);
    out[AT_VERB] = (char)record->verb;
    out[AT_KEY_LENGTH] = (char)(record->key.n >> 8);
    out[AT_KEY_LENGTH + 1] = (char)(record->key.n & 0xff);
    put_text(out + AT_KEY, record->key);
    put_text(out + AT_KEY + record->key.n, record->value);
    kc__storage_record_seal(out, kc__storage_record_size(record), revision);
}

static bool record_holds(const kc__storage_record *record, uint64_t revision)
{
    const kc__storage_op op = {.verb = record->verb, .key = record->key, .value = record->value};
    if (kc__storage_op_problem(&op) || record->previous >= revision)
        return false;
    return record->verb == KC__STORAGE_PUT || (record->value.n == 0 && record->previous > 0);
}

bool kc__storage_record_read(kc_str bytes, uint64_t revision, kc__storage_record *ret_record)
{
    if (bytes.n < AT_KEY)
        return false;
    const char *p = bytes.p;
    if (kc__storage_get_u64(p) !=
        kc__storage_checksum(revision, p + AT_PREVIOUS, bytes.n - AT_PREVIOUS))
        return false;
    const size_t end_of_key =
        AT_KEY + ((size_t)(uint8_t)p[AT_KEY_LENGTH] << 8 | (uint8_t)p[AT_KEY_LENGTH + 1]);
    if (end_of_key > bytes.n || (uint8_t)p[AT_VERB] > KC__STORAGE_DELETE)
        return false;
    const kc__storage_record record = {
        .verb = (kc__storage_verb)p[AT_VERB],
        .previous = kc__storage_get_u64(p + AT_PREVIOUS),
        .wall = (int64_t)kc__storage_get_u64(p + AT_WALL),
        .key = kc_str_sub(bytes, AT_KEY, end_of_key),
        .value = kc_str_sub(bytes, end_of_key, bytes.n),
    };
    if (!record_holds(&record, revision))
        return false;
    *ret_record = record;
    return true;
}

void kc__storage_file_state_write(const kc__storage_file_state *state,
                                  char out[KC__STORAGE_FILE_STATE_SIZE])
{
    const uint32_t version = __builtin_bswap32(state->version);
    memcpy(out, state_magic, sizeof(state_magic));
    memcpy(out + 4, &version, sizeof(version));
    kc__storage_put_u64(out + 8, state->revision);
    kc__storage_put_u64(out + 16, state->compacted);
    kc__storage_put_u64(out + 24, state->history_bytes);
}

bool kc__storage_file_state_read(kc_str bytes, kc__storage_file_state *ret_state)
{
    uint32_t version;
    if (bytes.n < 8 || memcmp(bytes.p, state_magic, sizeof(state_magic)) != 0)
        return false;
    memcpy(&version, bytes.p + 4, sizeof(version));
    kc__storage_file_state state = {.version = __builtin_bswap32(version)};
    if (state.version == 0)
        return false;
    if (state.version <= KC__STORAGE_LAYOUT_VERSION) {
        if (bytes.n != KC__STORAGE_FILE_STATE_SIZE)
            return false;
        state.revision = kc__storage_get_u64(bytes.p + 8);
        state.compacted = kc__storage_get_u64(bytes.p + 16);
        state.history_bytes = kc__storage_get_u64(bytes.p + 24);
        if (state.compacted < KC__STORAGE_FIRST || state.compacted > state.revision)
            return false;
    }
    *ret_state = state;
    return true;
}
