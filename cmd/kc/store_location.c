/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_location.c: opens the store of a command, and shows progress. The configuration is read
 * before the store is opened, so a wrong file name changes nothing.
 */
#include "store_location.h"

#include "encryption_file.h"

#include <unistd.h>

static int open_encryption_of(kc__cli_opened_store *store, const kc__cli_store_options *o,
                              kc_error *err)
{
    if (!o->encryption && !store->location.root)
        return 0; /* etcd has no data directory. */
    kc_autofree char *path = kc__cli_encryption_path(o->encryption, store->location.root);
    if (!path)
        return 0;
    store->encryption = kc__encryption_new(&(kc__encryption_opts){.path = path}, err);
    return store->encryption ? 0 : kc_error_wrap(err, "encryption configuration");
}

static void show_raised(uint64_t revision, uint64_t goal, void *user)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Kraising the revision of etcd: %llu of %llu",
                (unsigned long long)KC_MIN(revision, goal), (unsigned long long)goal);
}

static int refuse_etcd_flags(const kc__maintenance_location *location,
                             const kc__cli_store_options *o, kc_error *err)
{
    if (!o->etcd_cert != !o->etcd_key)
        return kc_error_set(err, KC_INVALID,
                            "--etcd-certfile and --etcd-keyfile must be set together");
    if (o->etcd_cert || o->etcd_ca)
        for (size_t i = 0; i < location->n_urls; i++)
            if (kc_str_starts(kc_cstr(location->urls[i]), KC_STR("http:")))
                return kc_error_set(err, KC_INVALID,
                                    "--etcd-cafile and --etcd-certfile need https, but a member is "
                                    "%s",
                                    location->urls[i]);
    return 0;
}

int kc__cli_store_open_at(const kc__maintenance_location *location, bool existing,
                          const kc__cli_store_options *o, kc__storage **ret_storage, kc_error *err)
{
    const kc__storage_etcd_opts etcd = {.prefix = o->etcd_prefix,
                                        .ca_file = o->etcd_ca,
                                        .cert_file = o->etcd_cert,
                                        .key_file = o->etcd_key,
                                        .advanced = show_raised};
    if (refuse_etcd_flags(location, o, err) < 0)
        return kc_error_result(err);
    return kc__maintenance_open(location,
                                &(kc__maintenance_open_opts){.existing = existing, .etcd = &etcd},
                                ret_storage, err);
}

int kc__cli_store_open(kc__cli_opened_store *store, const char *location, bool existing,
                       const kc__cli_store_options *o, kc_error *err)
{
    if (kc__maintenance_location_parse(location, &store->location, err) < 0 ||
        open_encryption_of(store, o, err) < 0)
        return kc_error_result(err);
    return kc__cli_store_open_at(&store->location, existing, o, &store->storage, err);
}

void kc__cli_opened_store_done(kc__cli_opened_store *store)
{
    kc__storage_close(store->storage);
    kc__encryption_free(store->encryption);
    kc__maintenance_location_done(&store->location);
}

void kc__cli_store_progress(size_t n, void *noun)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%zu %s", n, (const char *)noun);
}

void kc__cli_store_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}
