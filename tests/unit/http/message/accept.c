/* SPDX-License-Identifier: Apache-2.0 */
#include "http/message/media.h"
#include "testing.h"

static const kc__media_offer offers[] = {
    {KC_STR_INIT("application"), KC_STR_INIT("json")},
    {KC_STR_INIT("application"), KC_STR_INIT("yaml")},
    {KC_STR_INIT("text"), KC_STR_INIT("plain")},
};

static kc__media_accept parsed(kc_arena *arena, const char *text)
{
    kc__media_accept accept = {0};
    kc_scoped(kc_error) err = {0};
    if (kc__media_accept_parse(kc_cstr(text), arena, &accept, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return accept;
}

/* "type/subtype;name=value", joined by '|'. */
static void assert_order(const char *text, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) out = {0};
    kc__media_accept accept = parsed(&arena, text);
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
    kc__media_accept accept = parsed(&arena, text);
    assert_int_equal(accept.n, 1);
    assert_true(accept.clauses[0].q == q);
}

static void equal_clauses_keep_their_order(void **state)
{
    (void)state;
    assert_order("application/json;as=Table;v=v1;g=meta.k8s.io,"
                 "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
                 "application/json;as=Table;v=v1;g=meta.k8s.io|"
                 "application/json;as=Table;v=v1beta1;g=meta.k8s.io|application/json");
    assert_order("a/b,c/d,e/f", "a/b|c/d|e/f");
}

static void higher_q_comes_first(void **state)
{
    (void)state;
    assert_order("a/b;q=0.1,c/d;q=0.5,e/f", "e/f|c/d|a/b");
    assert_order("application/json;q=0.9,application/json;as=Table;v=v1;g=meta.k8s.io",
                 "application/json;as=Table;v=v1;g=meta.k8s.io|application/json");
}

static void more_specific_clause_comes_first(void **state)
{
    (void)state;
    assert_order("*/*,a/*,a/b", "a/b|a/*|*/*");
    assert_order("text/html,application/xml;q=0.9,*/*;q=0.8", "text/html|application/xml|*/*");
}

static void position_decides_when_q_and_specificity_disagree(void **state)
{
    (void)state;
    assert_order("*/*,a/b;q=0.5", "a/b|*/*");
    assert_order("a/b;q=0.5,*/*", "*/*|a/b");
}

static void media_ranges_are_parsed_as_in_kubernetes(void **state)
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

static void invalid_q_is_zero(void **state)
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
    kc__media_accept accept = parsed(&arena, text);
    kc__media_choice choice = {.offer = 99};
    bool found = kc__media_accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &choice);
    assert_int_equal(found, expected >= 0);
    assert_int_equal(choice.offer, expected >= 0 ? (size_t)expected : 99);
}

static void first_offer_matching_the_best_clause_is_chosen(void **state)
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

static void absent_header_chooses_the_first_offer(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__media_accept accept = parsed(&arena, "");
    kc__media_choice choice = {.offer = 99};
    assert_true(accept.absent);
    assert_true(kc__media_accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &choice));
    assert_int_equal(choice.offer, 0);
    assert_null(choice.clause);
    assert_false(kc__media_accept_choose(&accept, offers, 0, NULL, NULL, &choice));
}

static void disallowed_clause_falls_back_to_the_next(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__media_choice choice = {.offer = 99};
    int calls = 0;
    kc__media_accept accept = parsed(&arena, "application/json;as=Table;v=v1;g=meta.k8s.io,"
                                             "application/yaml");
    assert_true(
        kc__media_accept_choose(&accept, offers, KC_COUNT(offers), without_table, &calls, &choice));
    assert_int_equal(choice.offer, 1);
    assert_str(choice.clause->subtype, "yaml");
    assert_int_equal(calls, 2);
    accept = parsed(&arena, "application/json;as=Table");
    assert_false(
        kc__media_accept_choose(&accept, offers, KC_COUNT(offers), without_table, &calls, &choice));
    assert_true(kc__media_accept_choose(&accept, offers, KC_COUNT(offers), NULL, NULL, &choice));
    kc_str as = {0};
    assert_true(kc__media_param_get(choice.clause, KC_STR("as"), &as));
    assert_str(as, "Table");
}

static void too_many_clauses_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    kc__media_accept accept = {.n = 7};
    kc_buf_puts(&text, "a/b");
    for (int i = 1; i < KC__MEDIA_ACCEPT_MAX_CLAUSES; i++)
        kc_buf_puts(&text, ",a/b");
    assert_int_equal(parsed(&arena, kc_buf_cstr(&text)).n, KC__MEDIA_ACCEPT_MAX_CLAUSES);
    kc_buf_puts(&text, ",a/b");
    assert_int_equal(kc__media_accept_parse(kc_buf_str(&text), &arena, &accept, &err),
                     -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "65 clauses: the limit is 64");
    assert_int_equal(accept.n, 7);
}

TESTS(equal_clauses_keep_their_order, higher_q_comes_first, more_specific_clause_comes_first,
      position_decides_when_q_and_specificity_disagree, media_ranges_are_parsed_as_in_kubernetes,
      invalid_q_is_zero, first_offer_matching_the_best_clause_is_chosen,
      absent_header_chooses_the_first_offer, disallowed_clause_falls_back_to_the_next,
      too_many_clauses_are_refused)
