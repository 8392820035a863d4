/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_tree.c: checks whether the pages of an LMDB file can be followed.
 *
 * LMDB has no checksums and trusts its pages: a flipped bit in an offset or a page number makes it
 * read outside of its map, and a signal ends the process. So before LMDB opens a file, every page
 * that its trees reach is checked once: its type is valid, its nodes lie inside it and its children
 * inside the file. The contents of the records are verified later, by their own checksums.
 *
 *     header page ─▶ root of the free list        pages that may be reused
 *                 └▶ root of the main tree ─▶ leaf nodes with the roots of our three databases
 *
 * The layout is that of LMDB 0.9 on a 64-bit machine (MDB_DATA_VERSION 1), as in memory. A file
 * that does not begin like this is left to LMDB, which refuses it with its own error.
 */
#include "apiserver/storage/file/file_internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_HEADER = 16, /* Number, padding, flags at 10, lower bound at 12, upper at 14. */
    NODE_HEADER = 8,  /* Size or child: low and high half; flags; bytes of the key. */
    DB_BYTES = 48,    /* The root is at offset 40. */
    META_MAGIC_AT = PAGE_HEADER,
    META_MAP_BYTES_AT = PAGE_HEADER + 16,
    META_DBS_AT = PAGE_HEADER + 24,
    META_LAST_PAGE_AT = META_DBS_AT + 2 * DB_BYTES,
    META_TXN_AT = META_LAST_PAGE_AT + 8,
    META_END = META_TXN_AT + 8,

    BRANCH = 0x01, /* Page flags. */
    LEAF = 0x02,
    OVERFLOWS = 0x04,
    HEADER = 0x08,

    IS_BIG = 0x01, /* Node flags: the data is on overflow pages; is a database; is */
    IS_DB = 0x02,  /* duplicates, in a page within the node or (with IS_DB) a tree. */
    HAS_DUPLICATES = 0x04,

    MAX_DEPTH = 32,
};

#define MAGIC   0xBEEFC0DEu
#define NO_PAGE UINT64_MAX

typedef struct page_walk {
    const unsigned char *file;
    size_t page_bytes;
    uint64_t n_pages; /* In use; page numbers are below. */
    uint64_t visited; /* If it exceeds the number of pages, the pages form a cycle. */
} page_walk;

static uint16_t u16(const unsigned char *p)
{
    uint16_t n;
    memcpy(&n, p, sizeof(n));
    return n;
}

static uint32_t u32(const unsigned char *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof(n));
    return n;
}

static uint64_t u64(const unsigned char *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof(n));
    return n;
}

/* The page with this number, if it says so itself; NULL otherwise. */
static const unsigned char *page_at(page_walk *w, uint64_t number)
{
    if (number < 2 || number >= w->n_pages || ++w->visited > w->n_pages)
        return NULL;
    const unsigned char *page = w->file + number * w->page_bytes;
    return u64(page) == number ? page : NULL;
}

/* ---- nodes ---- */

static bool check_tree(page_walk *w, uint64_t root, bool frees, int depth);

/* Data on consecutive overflow pages; NULL if the pages do not exist. */
static const unsigned char *big_data(page_walk *w, uint64_t number, uint64_t bytes)
{
    const unsigned char *page = page_at(w, number);
    if (!page || !(u16(page + 10) & OVERFLOWS))
        return NULL;
    uint64_t pages = u32(page + 12);
    bool fits =
        pages && pages <= w->n_pages - number && bytes <= pages * w->page_bytes - PAGE_HEADER;
    return fits ? page + PAGE_HEADER : NULL;
}

/* A list of free pages: their number, then the page numbers. */
static bool check_free_pages(const page_walk *w, const unsigned char *data, uint64_t bytes)
{
    uint64_t n = bytes < sizeof(n) ? UINT64_MAX : u64(data);
    if (n > bytes / sizeof(n) - 1)
        return false;
    for (uint64_t i = 1; i <= n; i++) {
        uint64_t number = u64(data + i * sizeof(n));
        if (number < 2 || number >= w->n_pages)
            return false;
    }
    return true;
}

/* A page inside a node: its nodes must lie inside it. */
static bool check_inner_page(const unsigned char *page, uint64_t bytes)
{
    if (bytes < PAGE_HEADER || !(u16(page + 10) & LEAF))
        return false;
    uint64_t lower = u16(page + 12);
    if (lower < PAGE_HEADER || lower > bytes)
        return false;
    for (uint64_t at = PAGE_HEADER; at < lower; at += 2) {
        uint64_t node = u16(page + at);
        if (node < lower || node + NODE_HEADER > bytes ||
            node + NODE_HEADER + u16(page + node + 6) > bytes)
            return false;
    }
    return true;
}

/* The data of a leaf's node, `room` bytes before the end of its page. */
static bool check_leaf_node(page_walk *w, const unsigned char *node, size_t room, bool frees,
                            int depth)
{
    uint16_t flags = u16(node + 4);
    size_t key = u16(node + 6);
    uint64_t bytes = u16(node) | (uint64_t)u16(node + 2) << 16;
    const unsigned char *data = node + NODE_HEADER + key;
    uint64_t inside = flags & IS_BIG ? sizeof(uint64_t) : bytes;
    if (NODE_HEADER + key + inside > room)
        return false;
    if (flags & IS_BIG && !(data = big_data(w, u64(data), bytes)))
        return false;
    if (frees)
        return check_free_pages(w, data, bytes);
    if (flags & IS_DB)
        return bytes == DB_BYTES && check_tree(w, u64(data + 40), false, depth + 1);
    return !(flags & HAS_DUPLICATES) || check_inner_page(data, bytes);
}

static bool check_node(page_walk *w, const unsigned char *page, size_t at, bool frees, int depth)
{
    const unsigned char *node = page + at;
    size_t room = w->page_bytes - at;
    if (u16(page + 10) & LEAF)
        return check_leaf_node(w, node, room, frees, depth);
    uint64_t child = u16(node) | (uint64_t)u16(node + 2) << 16 | (uint64_t)u16(node + 4) << 32;
    return NODE_HEADER + (size_t)u16(node + 6) <= room && check_tree(w, child, frees, depth + 1);
}

/* ---- trees ---- */

/* `frees`: the tree is the free list. */
static bool check_tree(page_walk *w, uint64_t root, bool frees, int depth)
{
    if (root == NO_PAGE)
        return true;
    const unsigned char *page = depth < MAX_DEPTH ? page_at(w, root) : NULL;
    if (!page || !(u16(page + 10) & (BRANCH | LEAF)))
        return false;
    size_t lower = u16(page + 12), upper = u16(page + 14);
    if (lower < PAGE_HEADER || lower > upper || upper > w->page_bytes)
        return false;
    for (size_t at = PAGE_HEADER; at + 1 < lower; at += 2) {
        size_t node = u16(page + at);
        if (node < upper || node + NODE_HEADER > w->page_bytes ||
            !check_node(w, page, node, frees, depth))
            return false;
    }
    return true;
}

/* ---- the file ---- */

/* The header page that LMDB will use; NULL if the file is not in the expected format. */
static const unsigned char *newest_header(const unsigned char *file, size_t bytes,
                                          size_t page_bytes)
{
    const unsigned char *first = file, *second = file + page_bytes;
    if (page_bytes < 512 || bytes < 2 * page_bytes || !(u16(second + 10) & HEADER) ||
        u32(second + META_MAGIC_AT) != MAGIC)
        return NULL;
    return u64(first + META_TXN_AT) < u64(second + META_TXN_AT) ? second : first;
}

static bool can_be_followed(const unsigned char *file, size_t bytes)
{
    if (bytes < META_END || u32(file + META_MAGIC_AT) != MAGIC || !(u16(file + 10) & HEADER))
        return true;
    page_walk w = {.file = file, .page_bytes = u32(file + META_DBS_AT)};
    const unsigned char *header = newest_header(file, bytes, w.page_bytes);
    if (!header || bytes < u64(header + META_MAP_BYTES_AT)) /* Truncated: see file_check.c. */
        return true;
    if (u32(header + META_DBS_AT) != w.page_bytes)
        return false;
    w.n_pages = u64(header + META_LAST_PAGE_AT) + 1;
    return w.n_pages >= 2 && w.n_pages <= bytes / w.page_bytes &&
           check_tree(&w, u64(header + META_DBS_AT + 40), true, 0) &&
           check_tree(&w, u64(header + META_DBS_AT + DB_BYTES + 40), false, 0);
}

int kc__storage_file_check_pages(kc__storage_file *file, kc_error *err)
{
    struct stat st;
    const int fd = open(file->data_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0) {
        if (fd >= 0)
            close(fd);
        return 0; /* Empty, or LMDB will report the error. */
    }
    const size_t bytes = (size_t)st.st_size;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return 0;
    const bool fine = can_be_followed(map, bytes);
    munmap(map, bytes);
    return fine ? 0 : kc__storage_file_error(file, MDB_CORRUPTED, "open", err);
}
