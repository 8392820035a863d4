/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that writes the tables, run over small definitions of our own: what it reads of each
 * language, and that whatever it does not understand ends the build with a sentence.
 * KC_DEFINITIONS_TOOL is where it is.
 */
#include "kc/buf.h"
#include "testing.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    char root[64];
    kc_buf said;   /* What it wrote to standard error. */
    kc_buf tables; /* What it wrote as source. */
    int status;
} fixture;

static void fixture_done(fixture *f)
{
    kc_autofree char *command = kc_asprintf("rm -rf '%s'", f->root);
    assert_int_equal(system(command), 0);
    kc_buf_done(&f->said);
    kc_buf_done(&f->tables);
}

static void put_file(const fixture *f, const char *name, const char *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", f->root, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void read_all(FILE *file, kc_buf *out)
{
    size_t n;
    do {
        n = fread(kc_buf_reserve(out, 4096), 1, 4096, file);
        out->n += n;
    } while (n);
}

static void run(fixture *f)
{
    kc_autofree char *command =
        kc_asprintf("'%s' '%s' '%s/out.c' x 2>&1", KC_DEFINITIONS_TOOL, f->root, f->root);
    FILE *program = popen(command, "re");
    assert_non_null(program);
    read_all(program, &f->said);
    f->status = pclose(program);
    kc_autofree char *path = kc_asprintf("%s/out.c", f->root);
    FILE *tables = fopen(path, "re");
    if (tables) {
        read_all(tables, &f->tables);
        fclose(tables);
    }
}

/* The package k8s.io/x/v1 of these messages, in the folder x. */
static fixture generate(const char *messages, const char *go)
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
    run(&f);
    return f;
}

static void assert_writes(const char *messages, const char *go, const char *part)
{
    kc_scoped(fixture) f = generate(messages, go);
    assert_string_equal(kc_buf_cstr(&f.said), "");
    assert_int_equal(f.status, 0);
    assert_contains(kc_buf_cstr(&f.tables), part);
}

static void assert_fails(const char *messages, const char *go, const char *part)
{
    kc_scoped(fixture) f = generate(messages, go);
    assert_contains(kc_buf_cstr(&f.said), part);
    assert_int_not_equal(f.status, 0);
    assert_int_equal(f.tables.n, 0);
}

#define GO_A \
    "type A struct {\n\tB string `json:\"b,omitempty\" protobuf:\"bytes,1,opt,name=b\"`\n}\n"

static void both_languages_make_a_field(void **state)
{
    (void)state;
    assert_writes("message A { // +optional\n optional string b = 1; }", GO_A,
                  "{KC_STR_INIT(\"b\"), 1, 7, 0, 0x1, NULL, \"string\", NULL, NULL, NULL},");
    assert_writes("message A { optional string b = 1; }", GO_A,
                  "{KC_STR_INIT(\"io.k8s.x.v1.A\"), "
                  "\"v1.A\", fields + 0, 1, 0x0, "
                  "orders + 0, orders + 1},");
}

static void comments_strings_and_functions_of_go_are_stepped_over(void **state)
{
    (void)state;
    assert_writes("message A { optional string b = 1; }",
                  "/* type A struct {} */\n// type A struct\nvar s = `\ntype A struct {}\n`\n"
                  "func f() string { return \"}\\\"{\" + string('\"') }\n"
                  "type I interface {\n\tF() string\n}\n" GO_A,
                  "KC_STR_INIT(\"b\"), 1,");
}

static void markers_are_those_of_the_comment_before(void **state)
{
    (void)state;
    assert_writes("message A {\n  // +listType=atomic\n\n  // Text.\n  // +listType=map\n"
                  "  // +listMapKey=x\n  // +listMapKey=y\n  repeated A b = 1;\n}",
                  "type A struct {\n\tB []A `json:\"b\" patchStrategy:\"merge\" "
                  "patchMergeKey:\"x\" protobuf:\"bytes,1,rep,name=b\"`\n}",
                  "1, 9, 1, 0x8c, &messages[0], \"[]v1.A\", \"x\", \"x y\", NULL},");
}

static void defaults_may_name_constants(void **state)
{
    (void)state;
    const char *messages = "message A {\n  // +default=ref(Much)\n  optional string b = 1;\n}";
    assert_writes(messages, "const (\n\tLittle T = \"l\"\n\tMuch T = \"m\"\n)\n" GO_A,
                  "\"\\\"m\\\"\"},");
    assert_fails(messages, GO_A, "no constant is called 'Much'");
}

static void an_unknown_type_fails(void **state)
{
    (void)state;
    assert_fails("message A { optional Missing b = 1; }", GO_A,
                 "x/generated.proto:3: A refers to the type k8s.io.x.v1.Missing, which none of "
                 "the packages read defines");
    assert_fails("message A { optional .k8s.io.y.B b = 1; }", GO_A, "the type k8s.io.y.B");
    assert_fails("message A { optional sint32 b = 1; }", GO_A, "k8s.io.x.v1.sint32");
}

static void a_message_without_a_go_type_fails(void **state)
{
    (void)state;
    assert_fails("message A { optional string b = 1; }", "type B struct {\n}",
                 "no Go file of x declares the type A");
}

static void fields_that_only_one_side_has_fail(void **state)
{
    (void)state;
    assert_fails("message A { }", GO_A, "A.B is not in");
    assert_fails("message A {\noptional string b = 1;\noptional string c = 2; }", GO_A,
                 "generated.proto:5: no field of the Go struct has the number 2");
    assert_fails("message A { optional string b = 1; }",
                 "type A struct {\n\tB string `json:\"b\"`\n}", "x/types.go:4: A.B is not in");
}

static void what_json_does_not_show_need_not_be_in_the_table(void **state)
{
    (void)state;
    assert_writes("message A { optional string b = 1; optional bytes c = 2; }",
                  "type A struct {\n\tB string `json:\"b\" protobuf:\"bytes,1,opt,name=b\"`\n"
                  "\tC []byte `json:\"-\" protobuf:\"bytes,2,opt,name=c\"`\n}",
                  "fields + 0, 1, 0x0,");
}

static void unknown_markers_and_strategies_fail(void **state)
{
    (void)state;
    assert_fails("message A {\n  // +listType=bag\n  optional string b = 1;\n}", GO_A,
                 "+listType=bag is not known");
    assert_fails("message A { optional string b = 1; }",
                 "type A struct {\n\tB string `json:\"b\" patchStrategy:\"mix\" "
                 "protobuf:\"bytes,1,opt,name=b\"`\n}",
                 "patchStrategy 'mix' is not known");
}

static void language_beyond_the_subset_fails(void **state)
{
    (void)state;
    assert_fails("enum E { A = 1; }", "", "'enum' is not known here");
    assert_fails("message A { oneof b { string c = 1; } }", GO_A, "expected 'optional' here");
    assert_fails("message A { map<int32, string> b = 1; }", GO_A, "expected 'string' here");
    assert_fails("message A { optional string b = 0; }", GO_A, "'0' is no field number");
    assert_fails("message A { optional string b = 70000; }", GO_A, "'70000' is no field number");
    assert_fails("message A { optional string b = 1 [deprecated = true]; }", GO_A,
                 "expected ';' here, not '['");
}

static void files_that_end_too_early_fail(void **state)
{
    (void)state;
    assert_fails("message A {", GO_A, "the file ends too early");
    assert_fails("message A { optional string", GO_A, "expected a name here");
    assert_fails("option x", GO_A, "the file ends too early");
    assert_fails("option x = \"", GO_A, "the text that begins here does not end");
    assert_fails("message A { }", "type A struct {\n", "the file ends too early");
    assert_fails("message A { }", "type A struct {\n\tB string `json", "does not end");
    assert_fails("message A { }", "const (\n\tA = 1\n", "the file ends too early");
}

static void a_missing_file_fails(void **state)
{
    (void)state;
    kc_scoped(fixture) f = {.root = "/tmp/kc-definitions-XXXXXX"};
    assert_non_null(mkdtemp(f.root));
    run(&f);
    assert_contains(kc_buf_cstr(&f.said), "x/generated.proto:0: No such file or directory");
    assert_int_not_equal(f.status, 0);
}

TESTS(both_languages_make_a_field, comments_strings_and_functions_of_go_are_stepped_over,
      markers_are_those_of_the_comment_before, defaults_may_name_constants, an_unknown_type_fails,
      a_message_without_a_go_type_fails, fields_that_only_one_side_has_fail,
      what_json_does_not_show_need_not_be_in_the_table, unknown_markers_and_strategies_fail,
      language_beyond_the_subset_fails, files_that_end_too_early_fail, a_missing_file_fails)
