/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused or are a record, or a state, that is written back as the same bytes. The
 * checksum would keep a fuzzer out, so the bytes are looked at as they are and sealed. */
#include "fuzzing.h"

#include "apiserver/storage/stored_record.h"

#define REVISION UINT64_C(1000)

static void check_record(kc_str bytes)
{
    kc__record record;
    if (!kc__record_read(bytes, REVISION, &record))
        return;
    assert(kc__record_size(&record) == bytes.n);
    kc_autofree char *again = kc_alloc(bytes.n);
    kc__record_write(&record, REVISION, again);
    assert(memcmp(again, bytes.p, bytes.n) == 0);
    assert(!kc__record_read(bytes, REVISION + 1, &record));
}

static void check_state(kc_str bytes)
{
    kc__state state;
    if (!kc__state_read(bytes, &state) || state.version != KC__LAYOUT_VERSION)
        return;
    char again[KC__STATE_SIZE];
    kc__state_write(&state, again);
    assert(bytes.n == sizeof(again) && memcmp(again, bytes.p, bytes.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str bytes = kc_str_of((const char *)data, size);
    check_record(bytes);
    check_state(bytes);
    if (size >= 27) {
        kc_autofree char *sealed = kc_str_dup(bytes);
        kc__record_seal(sealed, size, REVISION);
        check_record(kc_str_of(sealed, size));
    }
    return 0;
}
