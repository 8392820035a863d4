/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_record.c: records to bytes and back; stored_record.h has the picture.
 *
 * Reading trusts nothing: a file may have been damaged by its disk or by somebody's editor, and
 * what is not exactly what we would have written is refused. For every record that is read, writing
 * it again gives the same bytes (tests/fuzz/stored_record.c).
 *
 * The checksum is of our own making, eight bytes a step: each step is a bijection of the state, so
 * no change of a single word goes unnoticed, and others with odds of 2^64. It guards against
 * accidents, not against an attacker, who could as well write a valid record.
 *
 * To change the layout: raise KC__LAYOUT_VERSION, and say in storage_file_check.c how an older one
 * is brought up to date.
 */
#include "apiserver/storage/stored_record.h"

#include <assert.h>

enum { AT_PREVIOUS = 8, AT_WALL = 16, AT_VERB = 24, AT_KEY_LENGTH = 25, AT_KEY = 27 };

static const char state_magic[4] = {'K', 'C', 'S', 'T'};

void kc__put_u64(char *out, uint64_t number)
{
    number = __builtin_bswap64(number);
    memcpy(out, &number, sizeof(number));
}

uint64_t kc__get_u64(const char *bytes)
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

uint64_t kc__checksum(uint64_t seed, const char *p, size_t n)
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

size_t kc__record_size(const kc__record *record)
{
    return AT_KEY + record->key.n + record->value.n;
}

void kc__record_seal(char *bytes, size_t n, uint64_t revision)
{
    assert(n >= AT_KEY);
    kc__put_u64(bytes, kc__checksum(revision, bytes + AT_PREVIOUS, n - AT_PREVIOUS));
}

static void put_text(char *out, kc_str text)
{
    if (text.n)
        memcpy(out, text.p, text.n);
}

void kc__record_write(const kc__record *record, uint64_t revision, char *out)
{
    kc__put_u64(out + AT_PREVIOUS, record->previous);
    kc__put_u64(out + AT_WALL, (uint64_t)record->wall);
    out[AT_VERB] = (char)record->verb;
    out[AT_KEY_LENGTH] = (char)(record->key.n >> 8);
    out[AT_KEY_LENGTH + 1] = (char)(record->key.n & 0xff);
    put_text(out + AT_KEY, record->key);
    put_text(out + AT_KEY + record->key.n, record->value);
    kc__record_seal(out, kc__record_size(record), revision);
}

static bool record_holds(const kc__record *record, uint64_t revision)
{
    const kc_storage_op op = {.verb = record->verb, .key = record->key, .value = record->value};
    if (kc_storage_op_problem(&op) || record->previous >= revision)
        return false;
    return record->verb == KC_STORAGE_PUT || (record->value.n == 0 && record->previous > 0);
}

bool kc__record_read(kc_str bytes, uint64_t revision, kc__record *ret_record)
{
    if (bytes.n < AT_KEY)
        return false;
    const char *p = bytes.p;
    if (kc__get_u64(p) != kc__checksum(revision, p + AT_PREVIOUS, bytes.n - AT_PREVIOUS))
        return false;
    const size_t end_of_key =
        AT_KEY + ((size_t)(uint8_t)p[AT_KEY_LENGTH] << 8 | (uint8_t)p[AT_KEY_LENGTH + 1]);
    if (end_of_key > bytes.n || (uint8_t)p[AT_VERB] > KC_STORAGE_DELETE)
        return false;
    const kc__record record = {
        .verb = (kc_storage_verb)p[AT_VERB],
        .previous = kc__get_u64(p + AT_PREVIOUS),
        .wall = (int64_t)kc__get_u64(p + AT_WALL),
        .key = kc_str_sub(bytes, AT_KEY, end_of_key),
        .value = kc_str_sub(bytes, end_of_key, bytes.n),
    };
    if (!record_holds(&record, revision))
        return false;
    *ret_record = record;
    return true;
}

void kc__state_write(const kc__state *state, char out[KC__STATE_SIZE])
{
    const uint32_t version = __builtin_bswap32(state->version);
    memcpy(out, state_magic, sizeof(state_magic));
    memcpy(out + 4, &version, sizeof(version));
    kc__put_u64(out + 8, state->revision);
    kc__put_u64(out + 16, state->compacted);
    kc__put_u64(out + 24, state->history_bytes);
}

bool kc__state_read(kc_str bytes, kc__state *ret_state)
{
    uint32_t version;
    if (bytes.n < 8 || memcmp(bytes.p, state_magic, sizeof(state_magic)) != 0)
        return false;
    memcpy(&version, bytes.p + 4, sizeof(version));
    kc__state state = {.version = __builtin_bswap32(version)};
    if (state.version == 0)
        return false;
    if (state.version == KC__LAYOUT_VERSION) {
        if (bytes.n != KC__STATE_SIZE)
            return false;
        state.revision = kc__get_u64(bytes.p + 8);
        state.compacted = kc__get_u64(bytes.p + 16);
        state.history_bytes = kc__get_u64(bytes.p + 24);
        if (state.compacted < KC_STORAGE_FIRST || state.compacted > state.revision)
            return false;
    }
    *ret_state = state;
    return true;
}
