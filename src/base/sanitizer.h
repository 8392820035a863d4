/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.h: which sanitizer this is compiled with. gcc defines a macro for each; clang has
 * features.
 *
 * Sanitizers replace the allocator, handle signals and reserve address space, so a few functions
 * and tests differ under them: `#if KC__ASAN`, `#if KC__SANITIZED`. */
#ifndef KC_BASE_SANITIZER_H
#define KC_BASE_SANITIZER_H

#ifdef __has_feature
#define KC__HAS_FEATURE(name) __has_feature(name)
#else
#define KC__HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || KC__HAS_FEATURE(address_sanitizer)
#define KC__ASAN 1
#else
#define KC__ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || KC__HAS_FEATURE(thread_sanitizer)
#define KC__TSAN 1
#else
#define KC__TSAN 0
#endif

#define KC__SANITIZED (KC__ASAN || KC__TSAN || KC__HAS_FEATURE(memory_sanitizer))

#endif
