/* SPDX-License-Identifier: Apache-2.0 */
/* fuzzing.h: what every fuzzer includes. A broken property is an assert; the corpus is replayed by
 * tests/fuzz/replay.c. */
#ifndef KC_FUZZING_H
#define KC_FUZZING_H

#undef NDEBUG
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
