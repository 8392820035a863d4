/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get.c: reads one object, from the reader that the client is bound to or from the server.
 *
 * A reader serves current objects and their metadata. Subresources and reads at a given
 * resourceVersion go to the server.
 */
#include "client/rest/client_internal.h"

static bool reads_live(const kc_client *client, const kc_get_opts *opts)
{
    const char *version = opts->resource_version;
    return !client->bind.reader || client->bind.read_live || opts->live || opts->subresource ||
           (version && *version && strcmp(version, "0") != 0);
}

kc_object *kc_client_get(kc_client *client, const kc_kind *kind, kc_key key,
                         const kc_get_opts *opts, kc_error *err)
{
    static const kc_get_opts defaults;
    kc__client_location place;
    opts = opts ? opts : &defaults;
    if (kc__client_locate(client, kind, key, &place, err) < 0)
        return NULL;
    if (!reads_live(client, opts)) {
        kc_reader *reader = client->bind.reader;
        return reader->ops->get(reader, kind, (kc_key){place.ns, place.name}, opts,
                                client->bind.cancel, err);
    }
    kc_scoped(kc__client_request) request = {.accept =
                                                 kc__client_accept(opts->metadata_only, false)};
    place.subresource = opts->subresource;
    kc__client_request_set_target(&request, &place);
    kc__client_request_param(&request, "resourceVersion", opts->resource_version);
    return kc__client_send_for_object(client, &request, opts->subresource ? NULL : kind, err);
}
