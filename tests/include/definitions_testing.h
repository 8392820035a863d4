/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definitions_testing.h: runs the program that generates the tables on a test's own small
 * definitions, in a directory that is removed with the fixture. KC_DEFINITIONS_TOOL is the path of
 * the program.
 */
#ifndef KC_DEFINITIONS_TESTING_H
#define KC_DEFINITIONS_TESTING_H

#include "kc/buf.h"
#include "testing.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    char root[64];
    kc_buf errors; /* Its standard error. */
    kc_buf tables; /* The source that it wrote. */
    int status;
} fixture;

static inline void fixture_done(fixture *f)
{
    kc_autofree char *command = kc_asprintf("rm -rf '%s'", f->root);
    assert_int_equal(system(command), 0);
    kc_buf_done(&f->errors);
    kc_buf_done(&f->tables);
}

static inline void put_file(const fixture *f, const char *name, const char *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", f->root, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void read_all(FILE *file, kc_buf *out)
{
    size_t n;
    do {
        n = fread(kc_buf_reserve(out, 4096), 1, 4096, file);
        out->n += n;
    } while (n);
}

static inline void run(fixture *f)
{
    kc_autofree char *file = kc_asprintf("%s/amendments.txt", f->root);
    kc_autofree char *option =
        access(file, F_OK) ? kc_strdup("") : kc_asprintf("--amendments='%s'", file);
    kc_autofree char *command = kc_asprintf("'%s' %s '%s' '%s/out.c' x 2>&1", KC_DEFINITIONS_TOOL,
                                            option, f->root, f->root);
    FILE *program = popen(command, "re");
    assert_non_null(program);
    read_all(program, &f->errors);
    f->status = pclose(program);
    kc_autofree char *path = kc_asprintf("%s/out.c", f->root);
    FILE *tables = fopen(path, "re");
    if (tables) {
        read_all(tables, &f->tables);
        fclose(tables);
    }
}

/* The package k8s.io/x/v1 with these messages, in the directory x, with amendments (NULL: none). */
static inline fixture generate_amended(const char *messages, const char *go, const char *amendments)
{
    fixture f = {.root = "/tmp/kc-definitions-XXXXXX"};
    assert_non_null(mkdtemp(f.root));
    kc_autofree char *folder = kc_asprintf("%s/x", f.root);
    assert_int_equal(mkdir(folder, 0700), 0);
    kc_autofree char *proto =
        kc_asprintf("syntax = \"proto2\";\npackage k8s.io.x.v1;\n%s\n", messages);
    kc_autofree char *source = kc_asprintf("package v1\n\n%s\n", go);
    put_file(&f, "x/generated.proto", proto);
    put_file(&f, "x/types.go", source);
    if (amendments)
        put_file(&f, "amendments.txt", amendments);
    run(&f);
    return f;
}

static inline fixture generate(const char *messages, const char *go)
{
    return generate_amended(messages, go, NULL);
}

static inline void assert_writes(const char *messages, const char *go, const char *part)
{
    kc_scoped(fixture) f = generate(messages, go);
    assert_string_equal(kc_buf_cstr(&f.errors), "");
    assert_int_equal(f.status, 0);
    assert_contains(kc_buf_cstr(&f.tables), part);
}

static inline void assert_fails(const char *messages, const char *go, const char *part)
{
    kc_scoped(fixture) f = generate(messages, go);
    assert_contains(kc_buf_cstr(&f.errors), part);
    assert_int_not_equal(f.status, 0);
    assert_int_equal(f.tables.n, 0);
}

#define GO_A \
    "type A struct {\n\tB string `json:\"b,omitempty\" protobuf:\"bytes,1,opt,name=b\"`\n}\n"

#endif
