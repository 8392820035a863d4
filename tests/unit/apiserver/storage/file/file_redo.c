/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file backend and the file system: damaged pages, the redo logs of layouts 1 and 2, and the
 * resident memory of the mapped file.
 */
#include "layout_1.h"
#include "testing.h"

#include "apiserver/storage/file/file_backend.h"
#include "apiserver/storage/stored_journal.h"
#include "kc/buf.h"
#include "kc/rand.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ---- helpers ---- */

typedef struct stage {
    char folder[32];
    kc__storage_opts opts;
    kc__storage *storage;
} stage;

static stage *stage_open(stage *s)
{
    kc_scoped(kc_error) err = {0};
    if (kc__storage_open(&kc__storage_file_backend, &s->opts, &s->storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static stage *stage_reopen(stage *s)
{
    s->storage = kc__storage_close(s->storage);
    return stage_open(s);
}

static stage *stage_new(kc__storage_opts opts)
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
    static const char *const names[] = {"data.mdb", "lock.mdb", "owner", "journal"};
    kc__storage_close(s->storage);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = path_in(s, names[i]);
        unlink(path);
    }
    rmdir(s->folder);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

#define NEW_STAGE(...) stage_new((kc__storage_opts){__VA_ARGS__})

static kc__storage_op put_op(kc_str key, uint64_t expected, kc_str value)
{
    return (kc__storage_op){.key = key, .expected = expected, .value = value};
}

static uint64_t put(stage *s, const char *key, const char *value)
{
    kc__storage_op op = put_op(kc_cstr(key), KC__STORAGE_ANY, kc_cstr(value));
    kc__storage_result result = {0};
    assert_int_equal(kc__storage_commit(s->storage, &op, 1, &result, NULL, NULL), 0);
    return result.revision;
}

static int print_entry(const kc__storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%.*s=%.*s@%llu ", KC_ARG(entry->key), KC_ARG(entry->value),
                  (unsigned long long)entry->revision);
    return 0;
}

/* "key=value@revision … revision N" */
static void assert_live(stage *s, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    kc__storage_state state = {0};
    assert_int_equal(kc__storage_load(s->storage, print_entry, &out, &state, NULL), 0);
    kc_buf_printf(&out, "revision %llu", (unsigned long long)state.revision);
    assert_string_equal(kc_buf_cstr(&out), text);
}

static int check_size(const kc__storage_entry *entry, void *user)
{
    return entry->value.n == *(size_t *)user ? 0 : 1;
}

/* ---- damage ---- */

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

static int count_entry(const kc__storage_entry *entry, void *user)
{
    (void)entry;
    ++*(int *)user;
    return 0;
}

/* How many entries a spoilt file shows; -1 when it is refused. */
static int entries_of(stage *s)
{
    int n = 0;
    kc__storage_state after;
    bool fine = kc__storage_open(&kc__storage_file_backend, &s->opts, &s->storage, NULL) == 0 &&
                kc__storage_load(s->storage, count_entry, &n, &after, NULL) == 0;
    s->storage = kc__storage_close(s->storage);
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
    s->storage = kc__storage_close(s->storage);
    return read_data(s, ret_n);
}

static void flipped_bit_in_a_page_is_refused_or_harmless(void **state)
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
static void node_larger_than_its_page_is_refused(void **state)
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

/* ---- the redo of layout 2 ---- */

enum { PLACE = 1 << 20 };

/* Makes a store of layout 2 of a closed one, whose last batch is only in the redo: a put. */
static void make_layout_2(const stage *s, unsigned place, uint64_t base,
                          const kc__storage_record *record)
{
    kc_autofree char *data = path_in(s, "data.mdb"), *journal = path_in(s, "journal");
    const size_t size = kc__storage_record_size(record);
    const size_t n = KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX + size;
    kc_autofree char *bytes = kc_calloc(1, n);
    assert_true(layout_set_version(s->folder, KC__STORAGE_LAYOUT_VERSION, 2));
    assert_int_equal(unlink(journal), 0);
    kc__storage_put_u64(bytes + KC__STORAGE_JOURNAL_HEADER, size);
    kc__storage_record_write(record, base + 1,
                             bytes + KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX);
    kc__storage_journal_seal(bytes, n, base, 0);
    const int fd = open(data, O_RDWR | O_CLOEXEC);
    const off_t end = lseek(fd, 0, SEEK_END);
    assert_int_equal(ftruncate(fd, end + 2 * PLACE), 0);
    assert_int_equal(pwrite(fd, bytes, n, end + place * PLACE), n);
    close(fd);
}

static void redo_of_layout_2_is_applied_once(void **state)
{
    (void)state;
    const kc__storage_record record = {
        .previous = 2, .wall = 1, .key = KC_STR("a"), .value = KC_STR("from the redo")};
    for (unsigned place = 0; place < 2; place++) {
        kc_auto(stage) *s = NEW_STAGE(0);
        put(s, "a", "1");
        s->storage = kc__storage_close(s->storage);
        make_layout_2(s, place, 2, &record);
        stage_open(s);
        assert_live(s, "a=from the redo@3 revision 3");
        assert_live(stage_reopen(s), "a=from the redo@3 revision 3");
        assert_int_equal(put(s, "a", "2"), 4);
    }
}

static void redo_of_another_revision_is_not_applied(void **state)
{
    (void)state;
    const kc__storage_record record = {
        .previous = 1, .wall = 1, .key = KC_STR("a"), .value = KC_STR("from the redo")};
    for (uint64_t base = 1; base <= 3; base += 2) {
        kc_auto(stage) *s = NEW_STAGE(0);
        put(s, "a", "1");
        s->storage = kc__storage_close(s->storage);
        make_layout_2(s, 0, base, &record);
        assert_live(stage_open(s), "a=1@2 revision 2");
    }
}

/* Changes a letter of every copy of a text. */
static void damage_text(const stage *s, const char *text)
{
    size_t n;
    kc_autofree char *bytes = read_data(s, &n);
    char *at = bytes;
    assert_non_null(memmem(bytes, n, text, strlen(text)));
    while ((at = memmem(at, n - (size_t)(at - bytes), text, strlen(text))))
        *at ^= 1;
    write_data(s, bytes, n);
}

static void torn_redo_is_not_applied(void **state)
{
    (void)state;
    const kc__storage_record record = {
        .previous = 2, .wall = 1, .key = KC_STR("a"), .value = KC_STR("the needle")};
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    s->storage = kc__storage_close(s->storage);
    make_layout_2(s, 0, 2, &record);
    damage_text(s, "the needle");
    assert_live(stage_open(s), "a=1@2 revision 2");
}

static void damaged_layout_2_store_with_redo_is_refused_and_unchanged(void **state)
{
    (void)state;
    const kc__storage_record record = {.wall = 1, .key = KC_STR("b"), .value = KC_STR("2")};
    kc_auto(stage) *s = NEW_STAGE(0);
    size_t n, n_after;
    put(s, "a", "a value that will be damaged");
    s->storage = kc__storage_close(s->storage);
    make_layout_2(s, 0, 2, &record);
    damage_text(s, "will be damaged");
    kc_autofree char *bytes = read_data(s, &n);
    kc_scoped(kc_error) err = {0};
    assert_true(kc__storage_open(&kc__storage_file_backend, &s->opts, &s->storage, &err) < 0);
    assert_error(&err, KC_STORE_READ_ERROR, "damaged");
    kc_autofree char *after = read_data(s, &n_after);
    assert_true(n_after == n && memcmp(after, bytes, n) == 0);
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

static void loaded_pages_do_not_stay_resident(void **state)
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
    assert_int_equal(kc__storage_load(s->storage, check_size, &size, NULL, NULL), 0);
    assert_true(resident_part_of(data) < 1 << 20);
}

TESTS(flipped_bit_in_a_page_is_refused_or_harmless, node_larger_than_its_page_is_refused,
      redo_of_layout_2_is_applied_once, redo_of_another_revision_is_not_applied,
      torn_redo_is_not_applied, damaged_layout_2_store_with_redo_is_refused_and_unchanged,
      loaded_pages_do_not_stay_resident)
