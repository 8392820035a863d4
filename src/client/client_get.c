/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_get.c: reading one object: from the reader the client is bound to, or from the server.
 *
 * A reader answers what it can have: objects, or their metadata, as they are now. Subresources and
 * reads of a certain resourceVersion go to the server.
 */
#include "client/client_internal.h"

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
    kc__place place;
    opts = opts ? opts : &defaults;
    if (kc__locate(client, kind, key, &place, err) < 0)
        return NULL;
    if (!reads_live(client, opts)) {
        kc_reader *reader = client->bind.reader;
        return reader->ops->get(reader, kind, (kc_key){place.ns, place.name}, opts,
                                client->bind.cancel, err);
    }
    kc_scoped(kc__ask) ask = {.accept = kc__accept(opts->metadata_only, false)};
    place.subresource = opts->subresource;
    kc__ask_for(&ask, &place);
    kc__ask_param(&ask, "resourceVersion", opts->resource_version);
    return kc__send_for_object(client, &ask, opts->subresource ? NULL : kind, err);
}
