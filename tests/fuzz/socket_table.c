/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/net/tcp: each parsed entry of a pair has a state and a user. */
#include "fuzzing.h"

#include "http/trust/socket_owner_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const kc__socket_owner_pair pairs[] = {
        {.local = {127, 0, 0, 1},
         .remote = {127, 0, 0, 1},
         .local_port = 0x9c40,
         .remote_port = 0x17c0},
        {.v6 = true,
         .local = {[15] = 1},
         .remote = {[15] = 1},
         .local_port = 0x9c40,
         .remote_port = 0x17c0},
    };
    kc_str rest = kc_str_of((const char *)data, n);
    while (rest.p) {
        const kc_str line = kc_str_cut(&rest, '\n');
        for (size_t i = 0; i < KC_COUNT(pairs); i++)
            for (int v6 = 0; v6 <= 1; v6++) {
                kc__socket_owner_entry entry = {.state = -1};
                if (kc__socket_owner_proc_line(line, v6, &pairs[i], &entry))
                    assert(entry.state >= 0 && entry.state <= UINT8_MAX);
                else
                    assert(entry.state == -1);
            }
    }
    return 0;
}
