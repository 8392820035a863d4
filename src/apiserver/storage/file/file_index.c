/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_index.c: the database `index`, which maps each live key to its revision.
 *
 * LMDB limits keys to 511 bytes, this backend to 1000: a namespaced custom resource with a long
 * group and a long name exceeds 511. So a key is split, and its rest precedes the data, of which
 * LMDB keeps several in order under one key (MDB_DUPSORT):
 *
 *     key[0..511)  ─▶  key[511..)  NUL  revision (8 bytes, big-endian)
 *
 * For nearly all keys the rest is empty. Keys contain no NUL, so the entries are in the order of
 * whole keys, and the entry of a key is the first one that is not below "rest NUL".
 */
#include "apiserver/storage/file/file_internal.h"

#define HEAD_MAX ((size_t)511)
#define DATA_MAX (KC__STORAGE_MAX_KEY - HEAD_MAX + 1 + sizeof(uint64_t))

_Static_assert(DATA_MAX <= 511, "LMDB sorts data of at most 511 bytes");

static kc_str rest_of(kc_str key)
{
    return kc_str_sub(key, HEAD_MAX, key.n);
}

static MDB_val head_of(kc_str key)
{
    return (MDB_val){KC_MIN(key.n, HEAD_MAX), (void *)key.p};
}

/* Fills `out` with the entry's data; its part before the revision is the search key. */
static size_t make_data(kc_str key, uint64_t revision, char out[DATA_MAX])
{
    const kc_str rest = rest_of(key);
    if (rest.n)
        memcpy(out, rest.p, rest.n);
    out[rest.n] = '\0';
    kc__storage_put_u64(out + rest.n + 1, revision);
    return rest.n + 1 + sizeof(uint64_t);
}

int kc__storage_file_index_find(MDB_cursor *index, kc_str key, uint64_t *ret_revision)
{
    char wanted[DATA_MAX];
    const size_t size = make_data(key, 0, wanted), prefix = size - sizeof(uint64_t);
    MDB_val head = head_of(key), data = {prefix, wanted};
    const int code = mdb_cursor_get(index, &head, &data, MDB_GET_BOTH_RANGE);
    if (code)
        return code;
    if (data.mv_size != size || memcmp(data.mv_data, wanted, prefix) != 0)
        return MDB_NOTFOUND;
    *ret_revision = kc__storage_get_u64((const char *)data.mv_data + prefix);
    return 0;
}

int kc__storage_file_index_seek(MDB_cursor *index, kc_str key, MDB_val *ret_head, MDB_val *ret_data)
{
    *ret_head = head_of(key);
    return mdb_cursor_get(index, ret_head, ret_data, key.n ? MDB_SET_RANGE : MDB_FIRST);
}

int kc__storage_file_index_put(MDB_cursor *index, kc_str key, uint64_t revision, bool replace)
{
    char out[DATA_MAX];
    MDB_val head = head_of(key), data = {make_data(key, revision, out), out};
    /* The new data has the size and position of the old, as MDB_CURRENT requires. */
    return mdb_cursor_put(index, &head, &data, replace ? MDB_CURRENT : 0);
}

bool kc__storage_file_index_read(MDB_val head, MDB_val data, char *buffer, kc_str *ret_key,
                                 uint64_t *ret_revision)
{
    if (head.mv_size > HEAD_MAX || data.mv_size <= sizeof(uint64_t) || data.mv_size > DATA_MAX)
        return false;
    const size_t rest = data.mv_size - sizeof(uint64_t) - 1;
    memcpy(buffer, head.mv_data, head.mv_size);
    memcpy(buffer + head.mv_size, data.mv_data, rest);
    *ret_key = kc_str_of(buffer, head.mv_size + rest);
    *ret_revision = kc__storage_get_u64((const char *)data.mv_data + rest + 1);
    return true;
}
