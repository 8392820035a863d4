/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_name.c: derives node names from host names.
 *
 * Host names such as "Build_Box" or "DESKTOP-4711" are not valid as a Node's name or its label
 * kubernetes.io/hostname. So the name is converted to lower case, invalid characters become dashes,
 * and it is cut to 63 characters. A name that the operator sets is used as it is or refused.
 */
#include "kc/ascii.h"
#include "kc/pods.h"
#include "kc/str.h"

#include "pods/nodes.h"

#include <unistd.h>

enum { LONGEST = 63 };

char *kc__pods_node_name_of(kc_str host)
{
    char name[LONGEST + 1];
    size_t n = 0;
    for (size_t i = 0; i < host.n && n < LONGEST; i++) {
        const char c = kc_lower(host.p[i]);
        if (kc_is_alnum(c))
            name[n++] = c;
        else if (n && kc_is_alnum(name[n - 1])) /* No leading dash and no two in a row. */
            name[n++] = c == '.' ? '.' : '-';
    }
    while (n && !kc_is_alnum(name[n - 1]))
        n--;
    return n ? kc_str_dup((kc_str){name, n}) : kc_strdup("localhost");
}

char *kc_pods_node_name(const kc_pods_opts *opts, int i)
{
    char host[256] = "";
    if (opts->mode == KC_PODS_SIMULATE)
        return kc_asprintf("%s-%d", opts->node ? opts->node : "simulated", i);
    if (opts->node)
        return kc_strdup(opts->node);
    gethostname(host, sizeof(host) - 1);
    return kc__pods_node_name_of(kc_cstr(host));
}
