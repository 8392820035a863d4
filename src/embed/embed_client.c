/* SPDX-License-Identifier: Apache-2.0 */
/* embed_client.c: creates clients of an embedded server. */
#include "embed/embed_internal.h"

kc_client *kc_embedded_server_client(kc_embedded_server *server, kc_error *err)
{
    kc_rand rand = kc__embed_rand(server);
    return kc_client_new(&(kc_client_opts){.transport = kc_embedded_server_transport(server, NULL),
                                           .clock = kc_embedded_server_clock(server),
                                           .rand = &rand},
                         err);
}
