/* SPDX-License-Identifier: Apache-2.0 */
/* memory_available.h: how much memory the process may use, and how much it uses. */
#ifndef KC_APISERVER_MEMORY_AVAILABLE_H
#define KC_APISERVER_MEMORY_AVAILABLE_H

#include "kc/str.h"

/* The smallest of the machine's memory, the limits of the process's cgroups (v1 and v2) and
 * RLIMIT_AS and RLIMIT_DATA. Reads files; blocks. */
size_t kc__memory_available(void);

/* Anonymous resident memory of this process. File mappings (the store's) are excluded, because the
 * kernel can drop them. False if /proc is not available. */
bool kc__memory_resident(size_t *ret_bytes);

/* The smallest limit among the cgroups in /proc/self/cgroup, below `root` (normally
 * "/sys/fs/cgroup"). SIZE_MAX: none. */
size_t kc__memory_cgroup_limit(kc_str self_cgroup, const char *root);

#endif
