/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_internal.h: what the files share that read headers.
 *
 *     find_headers.c    which headers are read, by folder
 *     read_headers.c    one folder: libclang's errors, its types, the package's markers
 *     read_comments.c   documentation and markers of a declaration
 *     read_types.c      structs, enums, typedefs
 *     read_collections.c  lists and maps that are one type
 *     read_fields.c     members of a struct: what they are, what they are called
 */
#ifndef KC_GENERATE_READ_INTERNAL_H
#define KC_GENERATE_READ_INTERNAL_H

#include "generate/clang_api.h"
#include "generate/comments.h"
#include "generate/markers.h"
#include "generate/read_headers.h"

#include "kc/map.h"

/* ---- which headers ---- */

/* A folder and its headers, sorted. Strings are malloc'd. */
typedef struct kc__header_folder {
    char *path;             /* Absolute. */
    KC_VEC(char *) headers; /* Absolute. */
} kc__header_folder;

typedef KC_VEC(kc__header_folder) kc__header_folders;

int kc__find_headers(const kc__read_opts *opts, kc__header_folders *ret, kc_error *err);
void kc__header_folders_done(kc__header_folders *folders);

/* Of one header. */
#define KC__GEN_MAX_FILE ((size_t)4 << 20)

/* ---- reading one folder ---- */

/* A file that libclang read. */
typedef struct kc__read_file {
    const char *name; /* For people: relative to the working folder if it is below. */
    kc__comments comments;
    bool is_ours, is_sdk, is_scanned;
    CXFile file;
} kc__read_file;

typedef KC_VEC(CXCursor) kc__cursors;
typedef KC_VEC(kc__gen_marker) kc__marker_list;

typedef struct kc__reader {
    kc__clang clang;
    CXIndex index;
    CXTranslationUnit unit;
    const kc__read_opts *opts;
    kc__gen_model *model;
    kc_arena *arena; /* The model's. */
    char *cwd;
    kc__gen_package *package;
    KC_VEC(const kc__gen_type *) types; /* Of the package, in order. */
    kc__marker_list package_markers;
    kc_map files;    /* By the name libclang has: kc__read_file */
    kc_map typedefs; /* A record's or enum's USR to the CXCursor of its typedef. */
    kc_map known;    /* A typedef's USR to its kc__gen_type. */
    unsigned depth;  /* Of types that are being read. */
    unsigned nested; /* Lists and maps, in the same way. */
    kc_error *err;
    bool failed; /* An error was added. */
} kc__reader;

/* libclang's text, now the arena's. */
kc_str kc__reader_text(kc__reader *r, CXString text);
kc_str kc__reader_spelling(kc__reader *r, CXCursor cursor);
kc_str kc__reader_usr(kc__reader *r, CXCursor cursor);
/* Children of these kinds, in order; the caller frees the vector. */
kc__cursors kc__reader_children(kc__reader *r, CXCursor cursor);
/* Where it is, and in which file (NULL: in none). */
kc__read_file *kc__reader_place(kc__reader *r, CXSourceLocation location, kc__gen_at *ret_at);
/* The place of a declaration's name. */
kc__gen_at kc__reader_at(kc__reader *r, CXCursor cursor);

/* Adds an error; a macro for its format. */
#define kc__reader_fail(r, at, ...) \
    ((r)->failed = true, (void)kc__gen_error((r)->err, at, __VA_ARGS__))

/* ---- comments ---- */

typedef struct kc__read_doc {
    kc_str doc;
    kc__marker_list markers;
} kc__read_doc;

/* Adds documentation and markers of a declaration. */
void kc__reader_doc(kc__reader *r, CXCursor cursor, kc__marker_scope scope, kc__read_doc *into);
/* A list that lives in the arena, of one that is freed. */
kc__gen_markers kc__reader_keep(kc__reader *r, kc__marker_list *markers);
/* Markers that belong to no declaration, of a file. */
void kc__reader_package_markers(kc__reader *r, kc__read_file *file);

/* ---- types ---- */

/* The type of a typedef or of a record or enum, read if it is new; NULL: it cannot be, and an error
 * was added. */
const kc__gen_type *kc__reader_type(kc__reader *r, CXCursor declaration, kc__gen_at used_at);

/* What a C type is in JSON. */
typedef struct kc__read_value {
    kc__gen_base base;
    const kc__gen_type *type;
    const kc__gen_field *inner;
} kc__read_value;

/* False: it is nothing JSON has, and an error was added. */
bool kc__reader_value(kc__reader *r, CXType type, kc__gen_at at, kc_str name,
                      kc__read_value *ret_value);

/* The same of what a pointer points to; what the pointer's own typedef says is said of that. */
bool kc__reader_pointee(kc__reader *r, CXType pointer, kc__gen_at at, kc_str name,
                        kc__read_value *ret_value);

/* A type without its typedefs, as far as these have no say of their own. */
CXType kc__reader_strip(kc__reader *r, CXType type);

/* ---- lists and maps ---- */

bool kc__reader_is_size(kc__reader *r, CXType type);
bool kc__reader_is_text(kc__reader *r, CXType type);
/* To something else than text. */
bool kc__reader_is_pointer(kc__reader *r, CXType type);

/* Whether a type is what KC_LIST_OF or KC_MAP_OF makes, and what it holds; KC__GEN_VALUE: neither.
 */
kc__gen_shape kc__reader_collection_shape(kc__reader *r, CXType type, CXType *ret_item);
/* Reads such a type; NULL: an error was added. */
const kc__gen_field *kc__reader_collection(kc__reader *r, CXType type, kc__gen_at at, kc_str name);
/* What stands at each place of a list or map, which may be a pointer to it. */
bool kc__reader_item(kc__reader *r, CXType type, kc__gen_field *into);

/* ---- fields ---- */

/* Reads all members; false: an error was added. */
bool kc__reader_fields(kc__reader *r, CXCursor record, kc__gen_type *into);

#endif
