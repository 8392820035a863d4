/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_file.c: static bearer tokens.
 *
 * Tokens are stored and looked up by their SHA-256 digest. A map compares bytes until they differ,
 * so the time of a look-up by token would tell an attacker how many bytes of a guess are right. The
 * time of a look-up by digest tells nothing useful, because an attacker cannot choose a token whose
 * digest begins like another's. The tokens themselves are not kept: the text of the file is wiped
 * after it was read.
 *
 * The users are complete, with system:authenticated among their groups. Immutable after reading and
 * counted; any thread may use it.
 */
#include "apiserver/access/token_file.h"

#include "apiserver/access/csv.h"
#include "kc/file.h"
#include "kc/map.h"
#include "kc/ref.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

typedef struct token_entry {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    kc__user user;
} token_entry;

struct kc__token_file {
    kc_ref refs;
    kc_arena arena;   /* Holds the entries and their text. */
    kc_map by_digest; /* Maps to entry *, which contains the key. */
    EVP_MD *sha256;   /* Found once: SHA256() looks for it in every call, which takes longer. */
};

static kc_str digest_of(const kc__token_file *file, kc_str token,
                        unsigned char out[SHA256_DIGEST_LENGTH])
{
    const char *text = token.p ? token.p : "";
    if (!file->sha256 || !EVP_Digest(text, token.n, out, NULL, file->sha256, NULL))
        SHA256((const unsigned char *)text, token.n, out);
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
    if (n > KC__TOKEN_FILE_MAX_GROUPS)
        return kc_error_set(err, KC_INVALID, "%zu groups exceed the limit of %d per user", n,
                            KC__TOKEN_FILE_MAX_GROUPS);
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

static int add_token_entry(kc__token_file *file, const kc__csv_record *record, bool *ret_duplicate,
                           kc_error *err)
{
    token_entry *e = kc_arena_new(&file->arena, token_entry);
    const kc_str key = digest_of(file, record->fields[0], e->digest);
    e->user.name = kc_arena_str(&file->arena, record->fields[1]);
    e->user.uid = kc_arena_str(&file->arena, record->fields[2]);
    const int failed =
        fill_groups(&file->arena, record->n > 3 ? record->fields[3] : (kc_str){0}, &e->user, err);
    if (!failed)
        *ret_duplicate = kc_map_put(&file->by_digest, key, e) != NULL;
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
        kc_log_warn(log, "skipped a record without a token", kc_kv("file", name),
                    kc_kv("line", record->line));
        return 0;
    }
    bool duplicate = false;
    if (add_token_entry(file, record, &duplicate, err) < 0)
        return kc_error_wrap(err, "line %zu", record->line);
    if (duplicate)
        kc_log_warn(log, "duplicate token; the last record applies", kc_kv("file", name),
                    kc_kv("line", record->line));
    return 0;
}

kc__token_file *kc__token_file_parse(const char *name, char *text, size_t n, kc_log *log,
                                     kc_error *err)
{
    kc_auto(kc__token_file) *file = kc_new(kc__token_file);
    kc_ref_init(&file->refs);
    file->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
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
    kc_buf_wipe(&text);
    return file;
}

kc__token_file *kc__token_file_ref(kc__token_file *file)
{
    kc_ref_add(&file->refs);
    return file;
}

kc__token_file *kc__token_file_unref(kc__token_file *file)
{
    if (!file || !kc_ref_drop(&file->refs))
        return NULL;
    kc_map_done(&file->by_digest);
    kc_arena_done(&file->arena);
    EVP_MD_free(file->sha256);
    free(file);
    return NULL;
}

const kc__user *kc__token_file_find(const kc__token_file *file, kc_str token)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    const token_entry *e = kc_map_get(&file->by_digest, digest_of(file, token, digest));
    return e ? &e->user : NULL;
}

size_t kc__token_file_count(const kc__token_file *file)
{
    return file->by_digest.n;
}
