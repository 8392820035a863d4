/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzing.h: included by every fuzzer. A violated property is an assert; tests/fuzz/replay.c
 * replays the corpus.
 */
#ifndef KC_FUZZING_H
#define KC_FUZZING_H

#undef NDEBUG
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
