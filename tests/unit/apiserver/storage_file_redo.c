/* SPDX-License-Identifier: Apache-2.0 */
/* The file backend and the system under it: power cuts that lose a header page, and the memory that
 * the file was read through. */
#include "testing.h"

#include "apiserver/storage/storage_file.h"
#include "kc/buf.h"
#include "kc/rand.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ---- helpers ---- */

typedef struct stage {
    char folder[32];
    kc_storage_opts opts;
    kc_storage *storage;
} stage;

static stage *stage_open(stage *s)
{
    kc_scoped(kc_error) err = {0};
    if (kc_storage_open(&kc_storage_file, &s->opts, &s->storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static stage *stage_reopen(stage *s)
{
    s->storage = kc_storage_close(s->storage);
    return stage_open(s);
}

static stage *stage_new(kc_storage_opts opts)
{
    stage *s = kc_new(stage);
    strcpy(s->folder, "/tmp/kc-storage-XXXXXX");
    if (!mkdtemp(s->folder))
        abort();
    s->opts = opts;
    s->opts.location = s->folder;
    return stage_open(s);
}

static char *path_in(const stage *s, const char *name)
{
    return kc_asprintf("%s/%s", s->folder, name);
}

static void stage_free(stage *s)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "owner"};
    kc_storage_close(s->storage);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = path_in(s, names[i]);
        unlink(path);
    }
    rmdir(s->folder);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

#define NEW_STAGE(...) stage_new((kc_storage_opts){__VA_ARGS__})

static kc_storage_op put_op(kc_str key, uint64_t expected, kc_str value)
{
    return (kc_storage_op){.key = key, .expected = expected, .value = value};
}

static uint64_t put(stage *s, const char *key, const char *value)
{
    kc_storage_op op = put_op(kc_cstr(key), KC_STORAGE_ANY, kc_cstr(value));
    kc_storage_result result = {0};
    assert_int_equal(kc_storage_commit(s->storage, &op, 1, &result, NULL, NULL), 0);
    return result.revision;
}

static int print_entry(const kc_storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%.*s=%.*s@%llu ", KC_ARG(entry->key), KC_ARG(entry->value),
                  (unsigned long long)entry->revision);
    return 0;
}

/* "key=value@revision … revision N" */
static void assert_live(stage *s, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    kc_storage_state state = {0};
    assert_int_equal(kc_storage_load(s->storage, print_entry, &out, &state, NULL), 0);
    kc_buf_printf(&out, "revision %llu", (unsigned long long)state.revision);
    assert_string_equal(kc_buf_cstr(&out), text);
}

static int check_size(const kc_storage_entry *entry, void *user)
{
    return entry->value.n == *(size_t *)user ? 0 : 1;
}

/* ---- power cuts ---- */

/* LMDB's two header pages. */
typedef struct headers {
    char bytes[2 * 4096];
} headers;

static headers read_headers(const stage *s)
{
    headers h;
    kc_autofree char *data = path_in(s, "data.mdb");
    int fd = open(data, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, h.bytes, sizeof(h.bytes), 0), sizeof(h.bytes));
    close(fd);
    return h;
}

/* Opens it again as it is after a power cut in which the header pages were not written any more. */
static stage *reopen_with_headers(stage *s, const headers *h)
{
    s->storage = kc_storage_close(s->storage);
    kc_autofree char *data = path_in(s, "data.mdb");
    int fd = open(data, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, h->bytes, sizeof(h->bytes), 0), sizeof(h->bytes));
    close(fd);
    return stage_open(s);
}

static char *read_data(const stage *s, size_t *ret_n)
{
    kc_autofree char *path = path_in(s, "data.mdb");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *ret_n = (size_t)lseek(fd, 0, SEEK_END);
    char *bytes = kc_alloc(*ret_n);
    assert_int_equal(pread(fd, bytes, *ret_n, 0), *ret_n);
    close(fd);
    return bytes;
}

static void write_data(const stage *s, const char *bytes, size_t n)
{
    kc_autofree char *path = path_in(s, "data.mdb");
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, bytes, n, 0), n);
    close(fd);
}

static void a_damaged_file_is_left_alone_even_where_a_copy_is_to_be_applied(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "a value that will be damaged");
    const headers before = read_headers(s);
    put(s, "b", "2");
    s->storage = kc_storage_close(s->storage);
    size_t n, n_after;
    kc_autofree char *bytes = read_data(s, &n);
    memcpy(bytes, before.bytes, sizeof(before.bytes));
    for (char *at = bytes; (at = memmem(at, n - (size_t)(at - bytes), "will be damaged", 15)); at++)
        *at ^= 1;
    write_data(s, bytes, n);
    kc_scoped(kc_error) err = {0};
    assert_true(kc_storage_open(&kc_storage_file, &s->opts, &s->storage, &err) < 0);
    assert_error(&err, KC_STORE_READ_ERROR, "damaged");
    kc_autofree char *after = read_data(s, &n_after);
    assert_true(n_after == n && memcmp(after, bytes, n) == 0);
}

static int count_entry(const kc_storage_entry *entry, void *user)
{
    (void)entry;
    ++*(int *)user;
    return 0;
}

/* How many entries a spoilt file shows; -1 when it is refused. */
static int entries_of(stage *s)
{
    int n = 0;
    kc_storage_state after;
    bool fine = kc_storage_open(&kc_storage_file, &s->opts, &s->storage, NULL) == 0 &&
                kc_storage_load(s->storage, count_entry, &n, &after, NULL) == 0;
    s->storage = kc_storage_close(s->storage);
    return fine ? n : -1;
}

enum { OBJECTS = 300, PAGES = 40, PAGE = 4096 };

/* A closed store with OBJECTS entries; the bytes of its file. */
static char *fill_and_close(stage *s, size_t *ret_n)
{
    for (int i = 0; i < OBJECTS; i++) {
        kc_autofree char *key = kc_asprintf("key-%03d", i);
        put(s, key, "a value");
    }
    s->storage = kc_storage_close(s->storage);
    return read_data(s, ret_n);
}

static void a_flipped_bit_in_a_page_is_refused_or_harmless(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    size_t n, refused = 0;
    kc_autofree char *whole = fill_and_close(s, &n);
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    for (int i = 0; i < 300; i++) {
        /* Heads of pages and their offsets first of all: those are what is followed. */
        size_t at = kc_rand_below(&rand, PAGES) * PAGE + kc_rand_below(&rand, i % 4 ? 64 : PAGE);
        char flip = (char)(1 << kc_rand_below(&rand, 8));
        whole[at] ^= flip;
        write_data(s, whole, n);
        whole[at] ^= flip;
        int entries = entries_of(s);
        assert_true(entries == OBJECTS || entries == -1);
        refused += entries < 0;
    }
    assert_true(refused > 0);
}

/* Following such a node would read far beyond the file. */
static void a_node_that_claims_more_than_its_page_is_refused(void **state)
{
    (void)state;
    enum { FLAGS_AT = 10, FIRST_NODE_AT = 16, LEAF = 2, HIGH_BYTE_OF_SIZE = 3 };
    kc_auto(stage) *s = NEW_STAGE(0);
    size_t n, refused = 0;
    kc_autofree char *whole = fill_and_close(s, &n);
    for (char *page = whole + (size_t)2 * PAGE; page < whole + (size_t)PAGES * PAGE; page += PAGE) {
        uint16_t node;
        memcpy(&node, page + FIRST_NODE_AT, sizeof(node));
        if (page[FLAGS_AT] != LEAF || node > PAGE - 8)
            continue;
        page[node + HIGH_BYTE_OF_SIZE] ^= 0x40;
        write_data(s, whole, n);
        page[node + HIGH_BYTE_OF_SIZE] ^= 0x40;
        int entries = entries_of(s);
        assert_true(entries == OBJECTS || entries == -1);
        refused += entries < 0;
    }
    assert_true(refused > 0);
}

static void a_commit_survives_the_loss_of_its_header_page(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    for (uint64_t round = 0; round < 4; round++) {
        const headers before = read_headers(s);
        kc_storage_op ops[] = {
            put_op(KC_STR("b"), KC_STORAGE_ANY, KC_STR("2")),
            put_op(KC_STR("b"), KC_STORAGE_ABSENT, KC_STR("never")),
            {.verb = KC_STORAGE_DELETE, .key = KC_STR("a"), .expected = KC_STORAGE_ANY},
            put_op(KC_STR("a"), KC_STORAGE_ANY, KC_STR("3"))};
        kc_storage_result results[KC_COUNT(ops)];
        assert_int_equal(kc_storage_commit(s->storage, ops, KC_COUNT(ops), results, NULL, NULL), 0);
        char expected[64];
        snprintf(expected, sizeof(expected), "a=3@%d b=2@%d revision %d", (int)round * 3 + 5,
                 (int)round * 3 + 3, (int)round * 3 + 5);
        assert_live(reopen_with_headers(s, &before), expected);
        assert_live(stage_reopen(s), expected);
    }
}

static void a_batch_too_large_for_its_copy_waits_for_the_header_page(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_autofree char *value = kc_calloc(1, 3000001);
    memset(value, 'v', 3000000);
    put(s, "a", "1");
    put(s, "a", value);
    const headers after = read_headers(s);
    kc_storage_state now = {0};
    reopen_with_headers(s, &after);
    assert_int_equal(kc_storage_load(s->storage, NULL, NULL, &now, NULL), 0);
    assert_int_equal(now.revision, 3);
    assert_int_equal(put(s, "a", "2"), 4);
    assert_live(stage_reopen(s), "a=2@4 revision 4");
}

/* Changes a letter of a text in the copies behind the map. */
static void damage_copy(const stage *s, const char *text)
{
    kc_autofree char *data = path_in(s, "data.mdb"), *tail = kc_calloc(1, 2 << 20);
    int fd = open(data, O_RDWR | O_CLOEXEC);
    const off_t at = lseek(fd, 0, SEEK_END) - (2 << 20);
    assert_int_equal(pread(fd, tail, 2 << 20, at), 2 << 20);
    char *found = memmem(tail, 2 << 20, text, strlen(text));
    assert_non_null(found);
    assert_int_equal(pwrite(fd, "?", 1, at + (found - tail)), 1);
    close(fd);
}

static void half_a_copy_is_not_applied(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    const headers before = read_headers(s);
    put(s, "a", "the needle");
    s->storage = kc_storage_close(s->storage);
    damage_copy(s, "the needle");
    stage_open(s);
    assert_live(reopen_with_headers(s, &before), "a=1@2 revision 2");
}

static void a_store_made_without_room_for_copies_gets_it(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.first_bytes = 4 << 20);
    put(s, "a", "1");
    s->storage = kc_storage_close(s->storage);
    kc_autofree char *data = path_in(s, "data.mdb");
    assert_int_equal(truncate(data, 4 << 20), 0);
    stage_open(s);
    const headers before = read_headers(s);
    put(s, "a", "2");
    assert_live(reopen_with_headers(s, &before), "a=2@3 revision 3");
}

/* ---- memory ---- */

/* Of the map of a file, in bytes. */
static size_t resident_part_of(const char *path)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[PATH_MAX + 128];
    size_t kilobytes = 0, resident = 0;
    bool ours = false;
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
            ours = strstr(line, path) != NULL;
        if (ours && sscanf(line, "Rss: %zu", &kilobytes) == 1)
            resident += kilobytes << 10;
    }
    fclose(maps);
    return resident;
}

static void the_memory_it_was_read_through_is_given_back(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_autofree char *value = kc_calloc(1, 100001), *data = path_in(s, "data.mdb");
    memset(value, 'v', 100000);
    char key[16];
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof(key), "key-%03d", i);
        put(s, key, value);
    }
    assert_true(resident_part_of(data) < 4 << 20);
    size_t size = 100000;
    stage_reopen(s);
    assert_int_equal(kc_storage_load(s->storage, check_size, &size, NULL, NULL), 0);
    assert_true(resident_part_of(data) < 1 << 20);
}

TESTS(a_flipped_bit_in_a_page_is_refused_or_harmless,
      a_node_that_claims_more_than_its_page_is_refused,
      a_damaged_file_is_left_alone_even_where_a_copy_is_to_be_applied,
      a_commit_survives_the_loss_of_its_header_page,
      a_batch_too_large_for_its_copy_waits_for_the_header_page, half_a_copy_is_not_applied,
      a_store_made_without_room_for_copies_gets_it, the_memory_it_was_read_through_is_given_back)
