/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that generates the type tables, run over small definitions: what it reads of each
 * language, and that unsupported input fails the build with a message.
 */
#include "definitions_testing.h"

static void field_combines_proto_and_go_definitions(void **state)
{
    (void)state;
    assert_writes("message A { // +optional\n optional string b = 1; }", GO_A,
                  "{KC_STR_INIT(\"b\"), 1, 7, 0, 0x1, 0, NULL, \"string\", NULL, NULL, NULL},");
    assert_writes("message A { optional string b = 1; }", GO_A,
                  "{KC_STR_INIT(\"io.k8s.x.v1.A\"), "
                  "\"v1.A\", fields + 0, 1, 0x0, "
                  "orders + 0, orders + 1},");
}

static void go_comments_strings_and_functions_are_skipped(void **state)
{
    (void)state;
    assert_writes("message A { optional string b = 1; }",
                  "/* type A struct {} */\n// type A struct\nvar s = `\ntype A struct {}\n`\n"
                  "func f() string { return \"}\\\"{\" + string('\"') }\n"
                  "type I interface {\n\tF() string\n}\n" GO_A,
                  "KC_STR_INIT(\"b\"), 1,");
}

static void markers_are_read_from_the_comment_before(void **state)
{
    (void)state;
    assert_writes("message A {\n  // +listType=atomic\n\n  // Text.\n  // +listType=map\n"
                  "  // +listMapKey=x\n  // +listMapKey=y\n  repeated A b = 1;\n}",
                  "type A struct {\n\tB []A `json:\"b\" patchStrategy:\"merge\" "
                  "patchMergeKey:\"x\" protobuf:\"bytes,1,rep,name=b\"`\n}",
                  "1, 9, 1, 0x8c, 0, &messages[0], \"[]v1.A\", \"x\", \"x y\", NULL},");
}

static void default_may_name_a_constant(void **state)
{
    (void)state;
    const char *messages = "message A {\n  // +default=ref(Much)\n  optional string b = 1;\n}";
    assert_writes(messages, "const (\n\tLittle T = \"l\"\n\tMuch T = \"m\"\n)\n" GO_A,
                  "\"\\\"m\\\"\"},");
    assert_fails(messages, GO_A, "no constant is called 'Much'");
}

#define GO_ENUM(comment)                                                               \
    "// Kind of thing.\n" comment "type T string\n\n"                                  \
    "const (\n\t// TwoT is the second.\n\tTwoT T = \"Two\"\n\t// OneT is the first.\n" \
    "\tOneT = T(\"One\")\n\tOther = \"Other\"\n\tAgain T = TwoT\n)\n"                  \
    "type A struct {\n\tB T `json:\"b,omitempty\" protobuf:\"bytes,1,opt,name=b,casttype=T\"`\n}\n"

static void enum_type_lists_constants_once_and_sorted(void **state)
{
    (void)state;
    const char *messages = "message A { optional string b = 1; }";
    assert_writes(messages, GO_ENUM("// +enum\n"),
                  "\"[\\\"One\\\",\\\"Two\\\"]\", /* k8s.io.x.v1.T */");
    assert_writes(messages, GO_ENUM("// +enum\n"), "1, 7, 0, 0x1, 1, NULL, \"v1.T\",");
    assert_writes(messages, GO_ENUM(""), "1, 7, 0, 0x1, 0, NULL, \"v1.T\",");
}

static void alias_without_enum_marker_lists_no_values(void **state)
{
    (void)state;
    assert_writes("message A { optional string b = 1; }",
                  GO_ENUM("// +enum\n") "\n// Old name.\ntype Old = T\n",
                  "1, 7, 0, 0x1, 0, NULL, \"v1.T\",");
}

static void unknown_type_fails(void **state)
{
    (void)state;
    assert_fails("message A { optional Missing b = 1; }", GO_A,
                 "x/generated.proto:3: A refers to the type k8s.io.x.v1.Missing, which none of "
                 "the packages read defines");
    assert_fails("message A { optional .k8s.io.y.B b = 1; }", GO_A, "the type k8s.io.y.B");
    assert_fails("message A { optional sint32 b = 1; }", GO_A, "k8s.io.x.v1.sint32");
}

static void message_without_go_type_fails(void **state)
{
    (void)state;
    assert_fails("message A { optional string b = 1; }", "type B struct {\n}",
                 "no Go file of x declares the type A");
}

static void field_in_only_one_language_fails(void **state)
{
    (void)state;
    assert_fails("message A { }", GO_A, "A.B is not in");
    assert_fails("message A {\noptional string b = 1;\noptional string c = 2; }", GO_A,
                 "generated.proto:5: no field of the Go struct has the number 2");
    assert_fails("message A { optional string b = 1; }",
                 "type A struct {\n\tB string `json:\"b\"`\n}", "x/types.go:4: A.B is not in");
}

static void field_hidden_from_json_is_left_out_of_the_table(void **state)
{
    (void)state;
    assert_writes("message A { optional string b = 1; optional bytes c = 2; }",
                  "type A struct {\n\tB string `json:\"b\" protobuf:\"bytes,1,opt,name=b\"`\n"
                  "\tC []byte `json:\"-\" protobuf:\"bytes,2,opt,name=c\"`\n}",
                  "fields + 0, 1, 0x0,");
}

static void unknown_marker_or_strategy_fails(void **state)
{
    (void)state;
    assert_fails("message A {\n  // +listType=bag\n  optional string b = 1;\n}", GO_A,
                 "+listType=bag is not known");
    assert_fails("message A { optional string b = 1; }",
                 "type A struct {\n\tB string `json:\"b\" patchStrategy:\"mix\" "
                 "protobuf:\"bytes,1,opt,name=b\"`\n}",
                 "patchStrategy 'mix' is not known");
}

static void unsupported_syntax_fails(void **state)
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

static void truncated_file_fails(void **state)
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

static void missing_file_fails(void **state)
{
    (void)state;
    kc_scoped(fixture) f = {.root = "/tmp/kc-definitions-XXXXXX"};
    assert_non_null(mkdtemp(f.root));
    run(&f);
    assert_contains(kc_buf_cstr(&f.errors), "x/generated.proto:0: No such file or directory");
    assert_int_not_equal(f.status, 0);
}

TESTS(field_combines_proto_and_go_definitions, go_comments_strings_and_functions_are_skipped,
      markers_are_read_from_the_comment_before, default_may_name_a_constant,
      enum_type_lists_constants_once_and_sorted, alias_without_enum_marker_lists_no_values,
      unknown_type_fails, message_without_go_type_fails, field_in_only_one_language_fails,
      field_hidden_from_json_is_left_out_of_the_table, unknown_marker_or_strategy_fails,
      unsupported_syntax_fails, truncated_file_fails, missing_file_fails)
