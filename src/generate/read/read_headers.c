/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_headers.c: reads headers with libclang, one directory at a time.
 *
 *     api/apps/v1alpha1/groupversion_info.h      +groupName=apps.example.io
 *     api/apps/v1alpha1/robot_types.h            the kinds
 *
 * All headers of a directory are one translation unit in memory, so that the headers of the SDK and
 * of the system are parsed once for all kinds of a version, and two versions may use the same
 * names. Compiler errors are passed on; types are read only without errors, because an unknown type
 * looks like an int to libclang.
 *
 * Comments that belong to no declaration are the package's. Those of groupversion_info.h are read
 * before any type, because +kubebuilder:validation:Optional changes how fields are read; those of
 * other headers afterwards, when it is known which belong to no declaration.
 *
 * All libclang objects are freed with the reader; the model keeps none.
 */
#include "generate/read/read_internal.h"

#include <unistd.h>

#define MAIN_FILE "/kc-generate.c"

/* ---- libclang's values ---- */

kc_str kc__gen_reader_text(kc__gen_reader *r, CXString text)
{
    const char *p = r->clang.getCString(text);
    const kc_str kept = kc_arena_str(r->arena, kc_cstr(p ? p : ""));
    r->clang.disposeString(text);
    return kept;
}

kc_str kc__gen_reader_spelling(kc__gen_reader *r, CXCursor cursor)
{
    return kc__gen_reader_text(r, r->clang.getCursorSpelling(cursor));
}

kc_str kc__gen_reader_usr(kc__gen_reader *r, CXCursor cursor)
{
    return kc__gen_reader_text(r, r->clang.getCursorUSR(cursor));
}

static enum CXChildVisitResult add_child(CXCursor cursor, CXCursor parent, CXClientData user)
{
    kc__gen_cursors *into = user;
    (void)parent;
    kc_vec_push(into, cursor);
    return CXChildVisit_Continue;
}

kc__gen_cursors kc__gen_reader_children(kc__gen_reader *r, CXCursor cursor)
{
    kc__gen_cursors children = {0};
    r->clang.visitChildren(cursor, add_child, &children);
    return children;
}

/* ---- source locations ---- */

static bool gen_read_headers_is_below(const char *path, const char *dir)
{
    const size_t n = dir ? strlen(dir) : 0;
    return n && !strncmp(path, dir, n) && path[n] == '/';
}

static kc__gen_read_file *file_of(kc__gen_reader *r, CXFile handle)
{
    CXString text = r->clang.getFileName(handle);
    const char *name = r->clang.getCString(text);
    kc__gen_read_file *file = kc_map_get(&r->files, kc_cstr(name));
    if (!file) {
        file = kc_arena_new(r->arena, kc__gen_read_file);
        const kc_str kept = kc_arena_str(r->arena, kc_cstr(name ? name : ""));
        file->name = kept.p + (gen_read_headers_is_below(kept.p, r->cwd) ? strlen(r->cwd) + 1 : 0);
        file->is_sdk = gen_read_headers_is_below(kept.p, r->opts->sdk_include);
        file->file = handle;
        kc_map_put(&r->files, kept, file);
    }
    r->clang.disposeString(text);
    return file;
}

kc__gen_read_file *kc__gen_reader_position(kc__gen_reader *r, CXSourceLocation location,
                                           kc__gen_at *ret_at)
{
    CXFile handle = NULL;
    unsigned line = 0, column = 0;
    r->clang.getExpansionLocation(location, &handle, &line, &column, NULL);
    *ret_at = (kc__gen_at){.line = line, .column = column};
    if (!handle)
        return NULL;
    kc__gen_read_file *file = file_of(r, handle);
    ret_at->file = file->name;
    return file;
}

kc__gen_at kc__gen_reader_at(kc__gen_reader *r, CXCursor cursor)
{
    kc__gen_at at;
    kc__gen_reader_position(r, r->clang.getCursorLocation(cursor), &at);
    return at;
}

/* ---- parsing ---- */

static char *main_text(const kc__gen_header_dir *dir)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < dir->headers.n; i++)
        kc_buf_printf(&text, "#include \"%s\"\n", dir->headers.items[i]);
    return kc_buf_take(&text);
}

static void gen_read_headers_forward(kc__gen_reader *r, CXDiagnostic diagnostic)
{
    kc__gen_at at;
    kc__gen_reader_position(r, r->clang.getDiagnosticLocation(diagnostic), &at);
    const kc_str text = kc__gen_reader_text(r, r->clang.getDiagnosticSpelling(diagnostic));
    const bool own = kc_str_contains(text, KC_STR("'stddef.h' file not found")) ||
                     kc_str_contains(text, KC_STR("'stdarg.h' file not found"));
    const bool sdk = kc_str_contains(text, KC_STR("'kc/api.h' file not found"));
    kc__gen_reader_fail(r, at, "%.*s%s", KC_ARG(text),
                        own   ? "; libclang's own headers are missing: on Debian, apt-get install "
                                "libclang-common-19-dev"
                        : sdk ? "; set the directory of the SDK's headers: --sdk-include"
                              : "");
}

static void check_diagnostics(kc__gen_reader *r)
{
    const unsigned n = r->clang.getNumDiagnostics(r->unit);
    for (unsigned i = 0; i < n; i++) {
        CXDiagnostic diagnostic = r->clang.getDiagnostic(r->unit, i);
        if (r->clang.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
            gen_read_headers_forward(r, diagnostic);
        r->clang.disposeDiagnostic(diagnostic);
    }
}

/* Arguments of the compiler: folders of includes among them, each as two. */
typedef KC_VEC(const char *) arguments;

static void add_arguments(const kc__gen_reader *r, arguments *into)
{
    static const char *const fixed[] = {"-x", "c", "-std=gnu17", "-ferror-limit=20",
                                        "-Wno-everything"};
    for (size_t i = 0; i < KC_COUNT(fixed); i++)
        kc_vec_push(into, fixed[i]);
    if (r->opts->sdk_include) {
        kc_vec_push(into, "-I");
        kc_vec_push(into, r->opts->sdk_include);
    }
    for (size_t i = 0; i < r->opts->n_includes; i++) {
        kc_vec_push(into, "-I");
        kc_vec_push(into, r->opts->includes[i]);
    }
    if (r->cwd) {
        kc_vec_push(into, "-I");
        kc_vec_push(into, r->cwd);
    }
}

static int gen_read_headers_parse(kc__gen_reader *r, const kc__gen_header_dir *dir)
{
    kc_autofree char *text = main_text(dir);
    kc_autofree char *name = kc_asprintf("%s" MAIN_FILE, dir->path);
    KC_VEC(struct CXUnsavedFile) files = {0};
    arguments args = {0};
    kc_vec_push(&files, (struct CXUnsavedFile){name, text, strlen(text)});
    for (size_t i = 0; i < r->opts->n_sources; i++)
        kc_vec_push(&files,
                    (struct CXUnsavedFile){r->opts->sources[i].path, r->opts->sources[i].text.p,
                                           r->opts->sources[i].text.n});
    add_arguments(r, &args);
    const enum CXErrorCode code = r->clang.parseTranslationUnit2(
        r->index, name, args.items, (int)args.n, files.items, (unsigned)files.n,
        CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing, &r->unit);
    kc_vec_done(&files);
    kc_vec_done(&args);
    if (code != CXError_Success)
        return kc_error_set(r->err, KC_INTERNAL,
                            "libclang failed to parse the headers of %s "
                            "(%d)",
                            dir->path, (int)code);
    check_diagnostics(r);
    return 0;
}

/* ---- types ---- */

/* Of several typedefs of a struct, the one with the struct's name, else the first. */
static void index_typedef(kc__gen_reader *r, CXCursor *cursor)
{
    const CXType canonical =
        r->clang.getCanonicalType(r->clang.getTypedefDeclUnderlyingType(*cursor));
    if (canonical.kind != CXType_Record && canonical.kind != CXType_Enum)
        return;
    const CXCursor declaration = r->clang.getTypeDeclaration(canonical);
    const kc_str usr = kc__gen_reader_usr(r, declaration);
    const bool named_so =
        kc_str_eq(kc__gen_reader_spelling(r, *cursor), kc__gen_reader_spelling(r, declaration));
    if (named_so || !kc_map_get(&r->typedefs, usr))
        kc_map_put(&r->typedefs, usr, cursor);
}

static bool is_generated(const kc__gen_markers *markers)
{
    const kc__gen_marker *marker = kc__gen_marker_find(markers, "kubebuilder:object:generate");
    return !marker || !kc_str_is(kc__gen_marker_arg(marker, ""), "false");
}

/* +kubebuilder:object:generate=false: a struct that is not part of the API. */
static bool gen_read_headers_is_omitted(kc__gen_reader *r, CXCursor cursor, kc__gen_read_file *file)
{
    kc__gen_read_doc doc = {0};
    const bool failed = r->failed;
    const size_t n_markers = r->package_markers.n;
    kc_error *const err = r->err;
    r->err = NULL; /* The error was reported when it was read. */
    kc__gen_reader_doc(r, cursor, KC__GEN_SCOPE_TYPE, &doc);
    r->err = err;
    r->package_markers.n = n_markers;
    r->failed = failed;
    const kc__gen_markers markers = {doc.markers.items, doc.markers.n};
    const bool left_out = !is_generated(&markers);
    kc_vec_done(&doc.markers);
    if (left_out) {
        kc__gen_at from, to;
        const CXSourceRange extent = r->clang.getCursorExtent(cursor);
        kc__gen_reader_position(r, r->clang.getRangeStart(extent), &from);
        kc__gen_reader_position(r, r->clang.getRangeEnd(extent), &to);
        kc__gen_comments_use(&file->comments, from.line, to.line);
    }
    return left_out;
}

/* The type of a top-level declaration of our headers; NULL: none. */
static const kc__gen_type *read_declaration(kc__gen_reader *r, CXCursor cursor)
{
    kc__gen_at at;
    const enum CXCursorKind kind = r->clang.getCursorKind(cursor);
    kc__gen_read_file *file = kc__gen_reader_position(r, r->clang.getCursorLocation(cursor), &at);
    const bool is_definition = kind == CXCursor_StructDecl || kind == CXCursor_EnumDecl;
    if (!file || !file->is_ours || (!is_definition && kind != CXCursor_TypedefDecl))
        return NULL;
    const CXType type = r->clang.getCanonicalType(r->clang.getCursorType(cursor));
    const CXCursor declaration = r->clang.getTypeDeclaration(type);
    const bool declared = type.kind == CXType_Record || type.kind == CXType_Enum;
    CXType item;
    if (!declared || r->clang.getCursorKind(declaration) == CXCursor_UnionDecl ||
        kc__gen_reader_collection_shape(r, type, &item) != KC__GEN_VALUE ||
        r->clang.Cursor_isNull(r->clang.getCursorDefinition(declaration)) ||
        !kc_map_get(&r->typedefs, kc__gen_reader_usr(r, declaration)) ||
        gen_read_headers_is_omitted(r, cursor, file))
        return NULL;
    return kc__gen_reader_type(r, declaration, at);
}

static void add_type(kc__gen_reader *r, const kc__gen_type *type, kc_map *seen)
{
    if (!type || type->is_external || type->from_sdk || kc_map_get(seen, type->c_name))
        return;
    kc_map_put(seen, type->c_name, (void *)type);
    kc_vec_push(&r->types, type);
}

/* A typedef that no field uses: its markers are checked and do not belong to the package. */
static void pass_over(kc__gen_reader *r, CXCursor cursor)
{
    kc__gen_at at;
    kc__gen_read_doc doc = {0};
    const CXType type = r->clang.getCanonicalType(r->clang.getCursorType(cursor));
    const kc__gen_read_file *file =
        kc__gen_reader_position(r, r->clang.getCursorLocation(cursor), &at);
    CXType item;
    if (!file || !file->is_ours || kc_map_get(&r->known, kc__gen_reader_usr(r, cursor)))
        return;
    if ((type.kind == CXType_Record || type.kind == CXType_Enum) &&
        kc__gen_reader_collection_shape(r, type, &item) == KC__GEN_VALUE)
        return;
    kc__gen_reader_doc(r, cursor, KC__GEN_SCOPE_TYPE, &doc);
    kc_vec_done(&doc.markers);
}

/* A typedef of a struct comes after the struct's own declaration; the markers before the typedef
 * decide whether it is skipped. So typedefs are read first if both start at the same place. */
static void read_types(kc__gen_reader *r)
{
    kc_scoped(kc_map) seen = {0};
    kc__gen_cursors top = kc__gen_reader_children(r, r->clang.getTranslationUnitCursor(r->unit));
    kc_vec_each (&top, cursor)
        if (r->clang.getCursorKind(*cursor) == CXCursor_TypedefDecl)
            index_typedef(r, cursor);
    kc_vec_each (&top, cursor)
        if (r->clang.getCursorKind(*cursor) == CXCursor_TypedefDecl)
            add_type(r, read_declaration(r, *cursor), &seen);
    /* Typedefs of scalars, lists and maps that fields use and that have documentation or
     * markers. */
    kc_map_each (&r->known, entry)
        add_type(r, entry->value, &seen);
    kc_vec_each (&top, cursor)
        if (r->clang.getCursorKind(*cursor) == CXCursor_TypedefDecl)
            pass_over(r, *cursor);
    kc_map_clear(&r->typedefs); /* They point into `top`. */
    kc_vec_done(&top);
}

/* ---- packages ---- */

static kc_str gen_read_headers_last_part(kc_str path, kc_str *ret_before)
{
    const ptrdiff_t slash = kc_str_rfind(path, '/');
    *ret_before = kc_str_sub(path, 0, slash < 0 ? 0 : (size_t)slash);
    return kc_str_sub(path, (size_t)(slash + 1), path.n);
}

static kc__gen_read_file *header_file(kc__gen_reader *r, const char *path)
{
    CXFile handle = r->clang.getFile(r->unit, path);
    return handle ? file_of(r, handle) : NULL;
}

static void name_package(kc__gen_reader *r, const kc__gen_header_dir *dir)
{
    const kc__gen_markers markers = {r->package_markers.items, r->package_markers.n};
    const kc__gen_marker *group = kc__gen_marker_find(&markers, "groupName");
    const kc__gen_marker *version = kc__gen_marker_find(&markers, "versionName");
    kc_str before, further;
    const kc_str last = gen_read_headers_last_part(kc_cstr(dir->path), &before);
    const kc_str parent = gen_read_headers_last_part(before, &further);
    r->package->dir = kc_arena_str(r->arena, kc_cstr(dir->path));
    r->package->version = version ? kc__gen_marker_arg(version, "") : kc_arena_str(r->arena, last);
    if (group)
        r->package->group = group->n_args ? kc__gen_marker_arg(group, "") : KC_STR("");
    else if (kc_str_find(parent, '.') > 0)
        r->package->group = kc_arena_str(r->arena, parent);
}

/* Markers of groupversion_info.h come before types: they change how fields are read. */
static void read_package_info(kc__gen_reader *r, const kc__gen_header_dir *dir)
{
    for (size_t i = 0; i < dir->headers.n; i++) {
        kc__gen_read_file *file = header_file(r, dir->headers.items[i]);
        if (!file)
            continue;
        file->is_ours = true;
        if (kc_str_ends(kc_cstr(dir->headers.items[i]), KC_STR("/groupversion_info.h")))
            kc__gen_reader_package_markers(r, file);
    }
    name_package(r, dir);
}

static void read_package_rest(kc__gen_reader *r, const kc__gen_header_dir *dir)
{
    for (size_t i = 0; i < dir->headers.n; i++) {
        kc__gen_read_file *file = header_file(r, dir->headers.items[i]);
        if (file && !kc_str_ends(kc_cstr(dir->headers.items[i]), KC_STR("/groupversion_info.h")))
            kc__gen_reader_package_markers(r, file);
    }
    name_package(r, dir);
}

static void gen_read_headers_check_group(kc__gen_reader *r)
{
    const kc__gen_markers markers = r->package->markers;
    const bool has_group = kc__gen_marker_find(&markers, "groupName") || r->package->group.n;
    for (size_t i = 0; !has_group && i < r->package->n_types; i++)
        if (r->package->types[i]->is_root) {
            kc__gen_reader_fail(
                r, r->package->types[i]->at,
                "the group of %.*s is missing; write groupversion_info.h beside this header "
                "with the comment '/// +groupName=apps.example.io'",
                KC_ARG(r->package->types[i]->go_name));
            return;
        }
}

static void keep_package(kc__gen_reader *r)
{
    const kc__gen_type **types = kc_arena_calloc(r->arena, r->types.n + 1, sizeof(*types));
    for (size_t i = 0; i < r->types.n; i++)
        types[i] = r->types.items[i];
    r->package->types = types;
    r->package->n_types = r->types.n;
    r->package->markers = kc__gen_reader_keep(r, &r->package_markers);
    gen_read_headers_check_group(r);
    if (!kc__gen_marker_find(&r->package->markers, "kubebuilder:skip"))
        kc_vec_push(&r->model->packages, r->package);
}

static int read_dir(kc__gen_reader *r, const kc__gen_header_dir *dir)
{
    r->package = kc_arena_new(r->arena, kc__gen_package);
    if (gen_read_headers_parse(r, dir) < 0)
        return -1;
    if (!r->failed) {
        read_package_info(r, dir);
        read_types(r);
        read_package_rest(r, dir);
        keep_package(r);
    }
    return 0;
}

static void end_dir(kc__gen_reader *r)
{
    if (r->unit)
        r->clang.disposeTranslationUnit(r->unit);
    r->unit = NULL;
    kc_map_done(&r->files);
    kc_map_done(&r->typedefs);
    kc_map_done(&r->known);
    kc_vec_done(&r->types);
    kc_vec_done(&r->package_markers);
}

/* ---- all ---- */

static int read_project(const kc__gen_read_opts *opts, kc__gen_model *model, kc_error *err)
{
    int failed = 0;
    for (size_t i = 0; i < opts->n_sources; i++)
        if (kc__gen_read_project_text(opts->sources[i].text, opts->sources[i].path, model, err) < 0)
            failed = kc_error_result(err);
    if (opts->project && kc__gen_read_project(opts->project, model, err) < 0)
        failed = kc_error_result(err);
    return failed;
}

static int gen_read_headers_read_all(kc__gen_reader *r, const kc__gen_header_dirs *dirs)
{
    int done = 0;
    r->index = r->clang.createIndex(0, 0);
    for (size_t i = 0; done == 0 && i < dirs->n; i++) {
        done = read_dir(r, &dirs->items[i]);
        end_dir(r);
    }
    r->clang.disposeIndex(r->index);
    return done < 0 ? done : r->failed ? kc_error_result(r->err) : 0;
}

int kc__gen_read_headers(const kc__gen_read_opts *opts, kc__gen_model *model, kc_error *err)
{
    kc__gen_reader r = {.opts = opts, .model = model, .arena = &model->arena, .err = err};
    kc__gen_header_dirs dirs = {0};
    int done = kc__gen_find_headers(opts, &dirs, err);
    if (done == 0)
        done = read_project(opts, model, err);
    if (done == 0 && dirs.n)
        done = kc__gen_clang_load(&r.clang, err);
    if (done == 0 && dirs.n) {
        r.cwd = get_current_dir_name();
        done = gen_read_headers_read_all(&r, &dirs);
        free(r.cwd);
    }
    kc__gen_header_dirs_done(&dirs);
    return done;
}
