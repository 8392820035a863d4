/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_key.c: creates the key of service-account tokens at the first start.
 *
 * The key stays the same from then on: a new one would invalidate every token. A file that cannot
 * be read as a key is an error, not replaced: it may be the operator's.
 *
 * Two servers that start at the same time on one directory must agree on the key. The new key is
 * written to a temporary file and linked to its name; a link fails if the name exists, and the
 * server then uses the key of the other one.
 */
#include "apiserver/serving/account_key.h"

#include "apiserver/jose/jose_key.h"
#include "kc/file.h"
#include "kc/rand.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* 1: created; 0: another server was faster. */
static int link_key(const char *from, const char *to, const char *dir, kc_error *err)
{
    int linked = link(from, to);
    if (linked < 0 && (errno == EPERM || errno == EOPNOTSUPP)) /* A file system without links. */
        linked = rename(from, to);
    const int why = errno;
    unlink(from);
    if (linked < 0 && why != EEXIST)
        return kc_error_set(err, KC_INTERNAL, "cannot create %s: %s", to, strerror(why));
    if (kc_dir_sync(dir, err) < 0)
        return kc_error_result(err);
    return linked == 0;
}

static int create_account_key(const char *dir, const char *path, kc_error *err)
{
    kc_buf pem = {0};
    kc_rand rand;
    kc_rand_seed_os(&rand); /* Process ids are not unique across containers. */
    kc_autofree char *temporary =
        kc_asprintf("%s/sa.key.%016llx", dir, (unsigned long long)kc_rand_u64(&rand));
    int result = kc__jose_key_generate(&pem, err);
    if (!result)
        result = kc_file_replace(temporary, 0600, kc_buf_str(&pem), err);
    kc_buf_wipe(&pem);
    return result < 0 ? result : link_key(temporary, path, dir, err);
}

char *kc__serving_account_key_prepare(const char *dir, kc_log *log, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s/sa.key", dir);
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return kc_take(path);
    const int created = create_account_key(dir, path, err);
    if (created < 0) {
        kc_error_wrap(err, "service account key");
        return NULL;
    }
    if (created)
        kc_log_info(log, "created the key of service-account tokens", kc_kv("file", path));
    return kc_take(path);
}
