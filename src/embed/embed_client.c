/* SPDX-License-Identifier: Apache-2.0 */
/* embed_client.c: a client of a server in this process. */
#include "embed/embed_internal.h"

kc_client *kc_embed_client(kc_embed *server, kc_error *err)
{
    kc_rand rand = kc__embed_rand(server);
    return kc_client_new(&(kc_client_opts){.transport = kc_embed_transport(server, NULL),
                                           .clock = kc_embed_clock(server),
                                           .rand = &rand},
                         err);
}
