/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_file.c: static bearer tokens.
 *
 * Tokens are kept and looked up by their SHA-256. A map compares bytes until they differ, and so
 * how long that takes would tell who guesses how much of a token is right; of a digest it tells
 * nothing one could use, for nobody can choose a token whose digest begins as another's does. The
 * tokens themselves are not kept: the text of the file is wiped when it has been read.
 *
 * The users are complete, with system:authenticated among their groups, so that a request allocates
 * nothing. Immutable once it was read, and so for any thread.
 */
#include "apiserver/access/token_file.h"

#include "apiserver/access/csv.h"
#include "http/certificate.h"
#include "kc/file.h"
#include "kc/map.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

typedef struct entry {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    kc__user user;
} entry;

struct kc__token_file {
    kc_arena arena;   /* Holds the entries and their text. */
    kc_map by_digest; /* To entry *; the key is in it. */
};

static kc_str digest_of(kc_str token, unsigned char out[SHA256_DIGEST_LENGTH])
{
    SHA256((const unsigned char *)(token.p ? token.p : ""), token.n, out);
    return kc_str_of((const char *)out, SHA256_DIGEST_LENGTH);
}

static size_t count_groups(kc_str list)
{
    size_t n = 0;
    for (kc_str rest = list; rest.p;)
        n += !kc_str_empty(kc_str_cut(&rest, ','));
    return n;
}

static int fill_groups(kc_arena *arena, kc_str list, kc__user *user, kc_error *err)
{
    const size_t n = count_groups(list);
    if (n > KC__TOKEN_MAX_GROUPS)
        return kc_error_set(err, KC_INVALID, "%zu groups are more than the %d a user may have", n,
                            KC__TOKEN_MAX_GROUPS);
    kc_str *groups = kc_arena_calloc(arena, n + 1, sizeof(*groups));
    user->groups = groups;
    for (kc_str rest = list; rest.p;) {
        const kc_str group = kc_str_cut(&rest, ',');
        if (!kc_str_empty(group))
            groups[user->n_groups++] = kc_arena_str(arena, group);
    }
    kc__user_authenticated(user, groups);
    return 0;
}

static int add(kc__token_file *file, const kc__csv_record *record, bool *ret_again, kc_error *err)
{
    entry *e = kc_arena_new(&file->arena, entry);
    const kc_str key = digest_of(record->fields[0], e->digest);
    e->user.name = kc_arena_str(&file->arena, record->fields[1]);
    e->user.uid = kc_arena_str(&file->arena, record->fields[2]);
    const int failed =
        fill_groups(&file->arena, record->n > 3 ? record->fields[3] : (kc_str){0}, &e->user, err);
    if (!failed)
        *ret_again = kc_map_put(&file->by_digest, key, e) != NULL;
    return failed;
}

static int take_record(kc__token_file *file, const char *name, const kc__csv_record *record,
                       kc_log *log, kc_error *err)
{
    if (record->n < 3)
        return kc_error_set(err, KC_INVALID,
                            "line %zu: at least 3 columns are needed (token, user name, user uid), "
                            "found %zu",
                            record->line, record->n);
    if (kc_str_empty(record->fields[0])) {
        kc_log_warn(log, "a record without a token is skipped", kc_kv("file", name),
                    kc_kv("line", record->line));
        return 0;
    }
    bool again = false;
    if (add(file, record, &again, err) < 0)
        return kc_error_wrap(err, "line %zu", record->line);
    if (again)
        kc_log_warn(log, "a token stands in the file twice: the last one counts",
                    kc_kv("file", name), kc_kv("line", record->line));
    return 0;
}

kc__token_file *kc__token_file_parse(const char *name, char *text, size_t n, kc_log *log,
                                     kc_error *err)
{
    kc_auto(kc__token_file) *file = kc_new(kc__token_file);
    kc__csv csv = {.at = text, .end = text + n};
    kc__csv_record record;
    int more;
    while ((more = kc__csv_next(&csv, &record, err)) > 0)
        if ((more = take_record(file, name, &record, log, err)) < 0)
            break;
    if (n)
        OPENSSL_cleanse(text, n);
    if (more < 0) {
        kc_error_wrap(err, "token file %s", name);
        return NULL;
    }
    return kc_take(file);
}

kc__token_file *kc__token_file_read(const char *path, kc_log *log, kc_error *err)
{
    kc_buf text = {0};
    kc__token_file *file = NULL;
    if (kc_file_read(path, KC_FILE_MAX, &text, err) < 0)
        kc_error_wrap(err, "token file");
    else
        file = kc__token_file_parse(path, text.p ? text.p : (char[]){""}, text.n, log, err);
    kc__wipe(&text);
    return file;
}

kc__token_file *kc__token_file_free(kc__token_file *file)
{
    if (!file)
        return NULL;
    kc_map_done(&file->by_digest);
    kc_arena_done(&file->arena);
    free(file);
    return NULL;
}

const kc__user *kc__token_file_find(const kc__token_file *file, kc_str token)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    const entry *e = kc_map_get(&file->by_digest, digest_of(token, digest));
    return e ? &e->user : NULL;
}

size_t kc__token_file_count(const kc__token_file *file)
{
    return file->by_digest.n;
}
