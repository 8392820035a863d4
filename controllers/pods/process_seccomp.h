/* SPDX-License-Identifier: Apache-2.0 */
/* process_seccomp.h: the seccomp filter of containers, as a classic BPF program. */
#ifndef KC_CONTROLLERS_PODS_PROCESS_SECCOMP_H
#define KC_CONTROLLERS_PODS_PROCESS_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

#define KC__PROCESS_SECCOMP_MAX 256 /* Instructions. */

typedef struct kc__process_seccomp {
    struct sock_filter code[KC__PROCESS_SECCOMP_MAX];
    struct sock_fprog program; /* Points to `code`: the struct must not be copied. */
} kc__process_seccomp;

/* Builds the filter. False: not available for this architecture, or the kernel does not support
 * it. */
bool kc__process_seccomp_build(kc__process_seccomp *ret);

#endif
