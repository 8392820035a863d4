/* SPDX-License-Identifier: Apache-2.0 */
#include "http/media.h"
#include "testing.h"

static const kc__media_offer offers[] = {
    {KC_STR_INIT("application"), KC_STR_INIT("json")},
    {KC_STR_INIT("application"), KC_STR_INIT("yaml")},
    {KC_STR_INIT("text"), KC_STR_INIT("plain")},
};

static kc__accept parsed(kc_arena *arena, const char *text)
{
    kc__accept accept = {0};
    kc_scoped(kc_error) err = {0};
    if (kc__accept_parse(kc_cstr(text), arena, &accept, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return accept;
}

/* "type/subtype;name=value", joined by '|'. */
static void assert_order(const char *text, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) out = {0};
    kc__accept accept = parsed(&arena, text);
    for (size_t i = 0; i < accept.n; i++) {
        const kc__media_type *media = &accept.clauses[i].media;
        kc_buf_printf(&out, "%s%.*s/%.*s", i ? "|" : "", KC_ARG(media->type),
                      KC_ARG(media->subtype));
        for (size_t j = 0; j < media->n_params; j++)
            kc_buf_printf(&out, ";%.*s=%.*s", KC_ARG(media->params[j].name),
                          KC_ARG(media->params[j].value));
    }
    assert_str(kc_buf_str(&out), expected);
}

static void assert_q(const char *text, double q)
{
    kc_scoped(kc_arena) arena = {0};
    kc__accept accept = parsed(&arena, text);
    assert_int_equal(accept.n, 1);
    assert_true(accept.clauses[0].q == q);
}

static void clauses_keep_their_order_when_nothing_else_decides(void **state)
{
    (void)state;
    assert_order("application/json;as=Table;v=v1;g=meta.k8s.io,"
                 "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
                 "application/json;as=Table;v=v1;g=meta.k8s.io|"
                 "application/json;as=Table;v=v1beta1;g=meta.k8s.io|application/json");
    assert_order("a/b,c/d,e/f", "a/b|c/d|e/f");
}

static void a_higher_q_comes_first(void **state)
{
    (void)state;
    assert_order("a/b;q=0.1,c/d;q=0.5,e/f", "e/f|c/d|a/b");
    assert_order("application/json;q=0.9,application/json;as=Table;v=v1;g=meta.k8s.io",
                 "application/json;as=Table;v=v1;g=meta.k8s.io|application/json");
}

static void the_less_general_comes_first(void **state)
{
    (void)state;
    assert_order("*/*,a/*,a/b", "a/b|a/*|*/*");
    assert_order("text/html,application/xml;q=0.9,*/*;q=0.8", "text/html|application/xml|*/*");
}

static void where_q_and_generality_disagree_the_position_decides(void **state)
{
    (void)state;
    assert_order("*/*,a/b;q=0.5", "a/b|*/*");
    assert_order("a/b;q=0.5,*/*", "*/*|a/b");
}

static void ranges_are_read_as_kubernetes_reads_them(void **state)
{
    (void)state;
    assert_order("*", "*/*");
    assert_order("*/", "*/*");
    assert_order(" a / b ; c = d ", "a/b;c=d");
    assert_order("a/b/", "a/b");
    assert_order("a/b/c", "");
    assert_order("a,b/,/c,", "/c");
    assert_order("a/b;c;d=;=e;f=g=h;i=j=", "a/b;=e;i=j");
    assert_order("a/b;c=1;c=2", "a/b;c=2");
    assert_order("a/b;c=\"d,e/f\"", "a/b;c=\"d|e/f\"");
}

static void a_q_that_is_no_number_is_zero(void **state)
{
    (void)state;
    assert_q("a/b", 1);
    assert_q("a/b;q=0.5", 0.5);
    assert_q("a/b;q=.25", 0.25);
    assert_q("a/b;q=5e-1", 0.5);
    assert_q("a/b; q =0.5 ", 0.5);
    assert_q("a/b;q= 0.5", 0);
    assert_q("a/b;q=0.5 ;x=y", 0);
    assert_q("a/b;q=high", 0);
    assert_q("a/b;q=1.", 1);
    assert_q("a/b;q=.", 0);
    assert_q("a/b;q=", 1);
    assert_q("a/b;Q=0.5", 1);
    assert_q("a/b;q=0.9", (double)0.9f);
}

static bool without_table(const kc__media_type *clause, const kc__media_offer *offer, void *user)
{
    kc_str as;
    (void)offer;
    ++*(int *)user;
    return !kc__media_param_get(clause, KC_STR("as"), &as);
}

static void assert_chosen(const char *text, int expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc__accept accept = parsed(&arena, text);
    kc__choice choice = {.offer = 99};
    bool found = kc__accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &choice);
    assert_int_equal(found, expected >= 0);
    assert_int_equal(choice.offer, expected >= 0 ? (size_t)expected : 99);
}

static void the_first_offer_that_suits_the_best_clause_is_chosen(void **state)
{
    (void)state;
    assert_chosen("application/json", 0);
    assert_chosen("application/yaml", 1);
    assert_chosen("application/*", 0);
    assert_chosen("text/*", 2);
    assert_chosen("*/*", 0);
    assert_chosen("application/vnd.kubernetes.protobuf,application/yaml", 1);
    assert_chosen("application/json;q=0.1,application/yaml", 1);
    assert_chosen("application/json;q=0", 0);
    assert_chosen("application/cbor", -1);
    assert_chosen("Application/Json", -1);
    assert_chosen("*/json", -1);
    assert_chosen("nonsense", -1);
    assert_chosen(" ", -1);
}

static void without_a_header_the_first_offer_is_chosen(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__accept accept = parsed(&arena, "");
    kc__choice choice = {.offer = 99};
    assert_true(accept.absent);
    assert_true(kc__accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &choice));
    assert_int_equal(choice.offer, 0);
    assert_null(choice.clause);
    assert_false(kc__accept_choose(&accept, offers, 0, NULL, NULL, &choice));
}

static void a_clause_that_is_not_allowed_gives_way_to_the_next(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__choice choice = {.offer = 99};
    int asked = 0;
    kc__accept accept = parsed(&arena, "application/json;as=Table;v=v1;g=meta.k8s.io,"
                                       "application/yaml");
    assert_true(
        kc__accept_choose(&accept, offers, KC_COUNT(offers), without_table, &asked, &choice));
    assert_int_equal(choice.offer, 1);
    assert_str(choice.clause->subtype, "yaml");
    assert_int_equal(asked, 2);
    accept = parsed(&arena, "application/json;as=Table");
    assert_false(
        kc__accept_choose(&accept, offers, KC_COUNT(offers), without_table, &asked, &choice));
    assert_true(kc__accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &choice));
    kc_str as = {0};
    assert_true(kc__media_param_get(choice.clause, KC_STR("as"), &as));
    assert_str(as, "Table");
}

static void too_many_clauses_give_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    kc__accept accept = {.n = 7};
    kc_buf_puts(&text, "a/b");
    for (int i = 1; i < KC__ACCEPT_MAX_CLAUSES; i++)
        kc_buf_puts(&text, ",a/b");
    assert_int_equal(parsed(&arena, kc_buf_cstr(&text)).n, KC__ACCEPT_MAX_CLAUSES);
    kc_buf_puts(&text, ",a/b");
    assert_int_equal(kc__accept_parse(kc_buf_str(&text), &arena, &accept, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "65 clauses, of which 64 are allowed");
    assert_int_equal(accept.n, 7);
}

TESTS(clauses_keep_their_order_when_nothing_else_decides, a_higher_q_comes_first,
      the_less_general_comes_first, where_q_and_generality_disagree_the_position_decides,
      ranges_are_read_as_kubernetes_reads_them, a_q_that_is_no_number_is_zero,
      the_first_offer_that_suits_the_best_clause_is_chosen,
      without_a_header_the_first_offer_is_chosen,
      a_clause_that_is_not_allowed_gives_way_to_the_next, too_many_clauses_give_an_error)
