/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_internal.h: shared by the files that read headers.
 *
 *     find_headers.c    finds the headers, by directory
 *     read_headers.c    one directory: libclang's errors, its types, the package's markers
 *     read_comments.c   documentation and markers of a declaration
 *     read_types.c      structs, enums, typedefs
 *     read_collections.c  lists and maps that are one type
 *     read_fields.c     members of a struct: shapes and names
 */
#ifndef KC_GENERATE_READ_INTERNAL_H
#define KC_GENERATE_READ_INTERNAL_H

#include "generate/markers/markers.h"
#include "generate/read/clang_api.h"
#include "generate/read/comments.h"
#include "generate/read/read_headers.h"

#include "kc/map.h"

/* ---- which headers ---- */

/* A directory and its headers, sorted. Strings are malloc'd. */
typedef struct kc__gen_header_dir {
    char *path;             /* Absolute. */
    KC_VEC(char *) headers; /* Absolute. */
} kc__gen_header_dir;

typedef KC_VEC(kc__gen_header_dir) kc__gen_header_dirs;

int kc__gen_find_headers(const kc__gen_read_opts *opts, kc__gen_header_dirs *ret, kc_error *err);
void kc__gen_header_dirs_done(kc__gen_header_dirs *folders);

/* Of one header. */
#define KC__GEN_MAX_FILE ((size_t)4 << 20)

/* ---- reading one folder ---- */

/* A file that libclang read. */
typedef struct kc__gen_read_file {
    const char *name; /* For messages: relative to the working directory if below it. */
    kc__gen_comments comments;
    bool is_ours, is_sdk, is_scanned;
    CXFile file;
} kc__gen_read_file;

typedef KC_VEC(CXCursor) kc__gen_cursors;
typedef KC_VEC(kc__gen_marker) kc__gen_marker_list;

typedef struct kc__gen_reader {
    kc__gen_clang clang;
    CXIndex index;
    CXTranslationUnit unit;
    const kc__gen_read_opts *opts;
    kc__gen_model *model;
    kc_arena *arena; /* The model's. */
    char *cwd;
    kc__gen_package *package;
    KC_VEC(const kc__gen_type *) types; /* Of the package, in order. */
    kc__gen_marker_list package_markers;
    kc_map files;    /* libclang's file name to kc__gen_read_file. */
    kc_map typedefs; /* A record's or enum's USR to the CXCursor of its typedef. */
    kc_map known;    /* A typedef's USR to its kc__gen_type. */
    unsigned depth;  /* Of types that are being read. */
    unsigned nested; /* Lists and maps, in the same way. */
    kc_error *err;
    bool failed; /* An error was added. */
} kc__gen_reader;

/* libclang's text, now the arena's. */
kc_str kc__gen_reader_text(kc__gen_reader *r, CXString text);
kc_str kc__gen_reader_spelling(kc__gen_reader *r, CXCursor cursor);
kc_str kc__gen_reader_usr(kc__gen_reader *r, CXCursor cursor);
/* Children of these kinds, in order; the caller frees the vector. */
kc__gen_cursors kc__gen_reader_children(kc__gen_reader *r, CXCursor cursor);
/* Its location and file (NULL: none). */
kc__gen_read_file *kc__gen_reader_position(kc__gen_reader *r, CXSourceLocation location,
                                           kc__gen_at *ret_at);
/* The place of a declaration's name. */
kc__gen_at kc__gen_reader_at(kc__gen_reader *r, CXCursor cursor);

/* Adds an error; a macro for its format. */
#define kc__gen_reader_fail(r, at, ...) \
    ((r)->failed = true, (void)kc__gen_error((r)->err, at, __VA_ARGS__))

/* ---- comments ---- */

typedef struct kc__gen_read_doc {
    kc_str doc;
    kc__gen_marker_list markers;
} kc__gen_read_doc;

/* Adds documentation and markers of a declaration. */
void kc__gen_reader_doc(kc__gen_reader *r, CXCursor cursor, kc__gen_marker_scope scope,
                        kc__gen_read_doc *into);
/* A list that lives in the arena, of one that is freed. */
kc__gen_markers kc__gen_reader_keep(kc__gen_reader *r, kc__gen_marker_list *markers);
/* Markers that belong to no declaration, of a file. */
void kc__gen_reader_package_markers(kc__gen_reader *r, kc__gen_read_file *file);

/* ---- types ---- */

/* The type of a typedef, record or enum, read if it is new; NULL: invalid, and an error was
 * added. */
const kc__gen_type *kc__gen_reader_type(kc__gen_reader *r, CXCursor declaration,
                                        kc__gen_at used_at);

/* The JSON type of a C type. */
typedef struct kc__gen_read_value {
    kc__gen_base base;
    const kc__gen_type *type;
    const kc__gen_field *inner;
} kc__gen_read_value;

/* False: it has no JSON representation, and an error was added. */
bool kc__gen_reader_value(kc__gen_reader *r, CXType type, kc__gen_at at, kc_str name,
                          kc__gen_read_value *ret_value);

/* The same for the target of a pointer, including the documentation of the pointer's typedef. */
bool kc__gen_reader_pointee(kc__gen_reader *r, CXType pointer, kc__gen_at at, kc_str name,
                            kc__gen_read_value *ret_value);

/* Resolves typedefs without documentation or markers. */
CXType kc__gen_reader_strip(kc__gen_reader *r, CXType type);

/* ---- lists and maps ---- */

bool kc__gen_reader_is_size(kc__gen_reader *r, CXType type);
bool kc__gen_reader_is_text(kc__gen_reader *r, CXType type);
/* To something else than text. */
bool kc__gen_reader_is_pointer(kc__gen_reader *r, CXType type);

/* Whether a type has the form of KC_LIST_OF or KC_MAP_OF, and its element; KC__GEN_VALUE:
 * neither. */
kc__gen_shape kc__gen_reader_collection_shape(kc__gen_reader *r, CXType type, CXType *ret_item);
/* Reads such a type; NULL: an error was added. */
const kc__gen_field *kc__gen_reader_collection(kc__gen_reader *r, CXType type, kc__gen_at at,
                                               kc_str name);
/* The element of a list or map, which may be a pointer. */
bool kc__gen_reader_item(kc__gen_reader *r, CXType type, kc__gen_field *into);

/* ---- fields ---- */

/* Reads all members; false: an error was added. */
bool kc__gen_reader_fields(kc__gen_reader *r, CXCursor record, kc__gen_type *into);

#endif
