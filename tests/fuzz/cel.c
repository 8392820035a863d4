/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any expression is refused with a message, or compiles and evaluates over two objects to a value
 * or an error: within its budget, twice the same, and with a value that can be written. A typed
 * variable and one without a type are both declared.
 */
#include "fuzzing.h"

#include "kc/cel.h"

static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":10},"
    "\"n\":{\"type\":\"integer\"},\"when\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"tags\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}},"
    "\"times\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"format\":\"date-time\"}},"
    "\"matrix\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}},"
    "\"items\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"],"
    "\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"},\"v\":{\"type\":\"integer\"}}}},"
    "\"port\":{\"x-kubernetes-int-or-string\":true},"
    "\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}}";
static const char object_text[] =
    "{\"name\":\"abc\",\"n\":3,\"when\":\"2020-01-02T03:04:05Z\",\"tags\":[\"a\",\"b\"],\"port\":80,"
    "\"labels\":{\"k\":\"v\"},\"times\":[\"2020-01-02T03:04:05Z\"],\"matrix\":[[1],[2,3.5]],"
    "\"items\":[{\"k\":\"p\",\"v\":1},{\"k\":\"q\",\"v\":2}]}";

static void evaluate_twice(const kc_cel_program *program, const kc_cel_value *values)
{
    enum { BUDGET = 20000 };
    kc_buf texts[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_error) err = {0};
        kc_cel_value result;
        uint64_t cost = 0;
        kc_cel_eval_opts opts = {
            .arena = &arena, .budget = BUDGET, .max_bytes = 4 << 20, .ret_cost = &cost};
        if (kc_cel_evaluate(program, values, &opts, &result, &err) < 0) {
            assert(err.message && *err.message);
            kc_buf_puts(&texts[i], kc_error_text(&err));
        } else {
            assert(cost <= BUDGET);
            kc_cel_write_text(result, &texts[i]);
            kc_scoped(kc_buf) json = {0};
            kc_cel_write_json(result, &json);
        }
    }
    assert(kc_str_eq(kc_buf_str(&texts[0]), kc_buf_str(&texts[1])));
    kc_buf_done(&texts[0]);
    kc_buf_done(&texts[1]);
}

/* What every input shares; made once, because it takes longer than most inputs. */
typedef struct cel_fixture {
    kc_cel_env *env;
    kc_view *openapi, *object;
    kc_schema *schema;
    kc_cel_types *types;
    kc_cel_variable variables[2];
} cel_fixture;

static const cel_fixture *fixture(void)
{
    static cel_fixture f;
    if (f.env)
        return &f;
    f.env = kc_cel_env_new(NULL);
    f.openapi = kc_view_parse(kc_cstr(schema_text), NULL, NULL);
    f.object = kc_view_parse(kc_cstr(object_text), NULL, NULL);
    f.schema = kc_schema_compile(kc_view_root(f.openapi), NULL, NULL);
    f.types = kc_cel_types_new();
    f.variables[0] =
        (kc_cel_variable){"self", kc_cel_types_schema(f.types, f.schema, "self_type", NULL)};
    f.variables[1] = (kc_cel_variable){"any", kc_cel_type_basic(KC_CEL_DYN)};
    return &f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cel_fixture *f = fixture();
    kc_cel_value values[] = {kc_cel_of_json(kc_view_root(f->object), f->variables[0].type),
                             kc_cel_of_json(kc_view_root(f->object), f->variables[1].type)};
    kc_scoped(kc_cel_errors) errors = {0};
    kc_cel_compile_opts opts = {
        .variables = f->variables, .n_variables = KC_COUNT(f->variables), .max_nodes = 5000};
    kc_str expression = kc_str_of((const char *)data, size);
    kc_auto(kc_cel_program) *program = kc_cel_compile(f->env, expression, &opts, &errors);
    assert((program != NULL) == (errors.items.n == 0));
    kc_scoped(kc_buf) text = {0};
    kc_cel_errors_write(&errors, expression, &text);
    if (program)
        evaluate_twice(program, values);
    return 0;
}
