/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_contract_group.h: the storage contract's tests of groups of operations. Included only by
 * storage_contract.h.
 */
#ifndef KC_STORAGE_CONTRACT_GROUP_H
#define KC_STORAGE_CONTRACT_GROUP_H

#ifndef KC_STORAGE_CONTRACT_H
#error "include storage_contract.h"
#endif

static inline kc__storage_op joined(kc__storage_op op)
{
    op.joined = true;
    return op;
}

#define commit_all(s, ops, results) \
    assert_int_equal(kc__storage_commit((s)->storage, ops, KC_COUNT(ops), results, NULL, NULL), 0)

static void group_is_stored_as_a_whole(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const kc__storage_op ops[] = {
        put_op(KC_STR("service"), KC__STORAGE_ABSENT, KC_STR("1")),
        joined(put_op(KC_STR("addresses"), KC__STORAGE_ABSENT, KC_STR("2"))),
        joined(put_op(KC_STR("ports"), KC__STORAGE_ANY, KC_STR("3"))),
        put_op(KC_STR("other"), KC__STORAGE_ANY, KC_STR("4")),
    };
    kc__storage_result results[KC_COUNT(ops)];
    commit_all(s, ops, results);
    for (size_t i = 0; i < KC_COUNT(ops); i++)
        assert_result(results[i], STORED, i + 2);
    assert_live(s, "addresses=2@3 other=4@5 ports=3@4 service=1@2 revision 5");
    assert_live(stage_reopen(s), "addresses=2@3 other=4@5 ports=3@4 service=1@2 revision 5");
}

static void failed_group_stores_nothing_and_other_groups_are_stored(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "quota", "0");
    const kc__storage_op ops[] = {
        put_op(KC_STR("a"), KC__STORAGE_ABSENT, KC_STR("1")),
        joined(put_op(KC_STR("quota"), 2, KC_STR("1"))),
        put_op(KC_STR("b"), KC__STORAGE_ABSENT, KC_STR("1")),
        joined(put_op(KC_STR("quota"), 2, KC_STR("1"))), /* The first group was faster. */
        joined(put_op(KC_STR("c"), KC__STORAGE_ANY, KC_STR("1"))),
        put_op(KC_STR("d"), KC__STORAGE_ABSENT, KC_STR("1")),
        put_op(KC_STR("e"), KC__STORAGE_ABSENT, KC_STR("1")),
        joined(put_op(KC_STR(""), KC__STORAGE_ANY, KC_STR("1"))),
        put_op(KC_STR("b"), KC__STORAGE_ABSENT, KC_STR("2")),
    };
    kc__storage_result results[KC_COUNT(ops)];
    commit_all(s, ops, results);
    assert_result(results[0], STORED, 3);
    assert_result(results[1], STORED, 4);
    assert_result(results[2], SKIPPED, 0);
    assert_result(results[3], CONFLICT, 4);
    assert_result(results[4], SKIPPED, 0);
    assert_result(results[5], STORED, 5);
    assert_result(results[6], SKIPPED, 0);
    assert_result(results[7], REFUSED, 0);
    assert_result(results[8], STORED, 6);
    assert_live(s, "a=1@3 b=2@6 d=1@5 quota=1@4 revision 6");
    assert_history(s, 2, "3:+a=1 4:+quota=1(0@2) 5:+d=1 6:+b=2 ");
    assert_live(stage_reopen(s), "a=1@3 b=2@6 d=1@5 quota=1@4 revision 6");
}

static void group_that_fails_at_its_end_restores_what_it_replaced(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    put(s, "b", "1");
    const kc__storage_op ops[] = {
        put_op(KC_STR("a"), 2, KC_STR("2")), put_op(KC_STR("a"), 4, KC_STR("3")),
        joined(delete_op(KC_STR("b"), 3)),   joined(put_op(KC_STR("c"), 7, KC_STR("1"))),
        delete_op(KC_STR("b"), 3),           put_op(KC_STR("a"), 4, KC_STR("4")),
    };
    kc__storage_result results[KC_COUNT(ops)];
    commit_all(s, ops, results);
    assert_result(results[0], STORED, 4);
    assert_result(results[3], CONFLICT, 0);
    assert_result(results[4], STORED, 5);
    assert_result(results[5], STORED, 6);
    assert_live(s, "a=4@6 revision 6");
    assert_live(stage_reopen(s), "a=4@6 revision 6");
    assert_history(s, 1, "2:+a=1 3:+b=1 4:+a=2(1@2) 5:-b(1@3) 6:+a=4(2@4) ");
}

static void group_with_one_key_twice_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const kc__storage_op ops[] = {
        put_op(KC_STR("a"), KC__STORAGE_ANY, KC_STR("1")),
        joined(put_op(KC_STR("b"), KC__STORAGE_ANY, KC_STR("1"))),
        joined(put_op(KC_STR("a"), KC__STORAGE_ANY, KC_STR("2"))),
        put_op(KC_STR("c"), KC__STORAGE_ANY, KC_STR("1")),
    };
    kc__storage_result results[KC_COUNT(ops)];
    commit_all(s, ops, results);
    for (size_t i = 0; i < 3; i++)
        assert_result(results[i], REFUSED, 0);
    assert_result(results[3], STORED, 2);
    assert_live(s, "c=1@2 revision 2");
}

static void group_that_is_too_large_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc__storage_op ops[KC__STORAGE_MAX_GROUP + 1];
    kc__storage_result results[KC_COUNT(ops)];
    char keys[KC_COUNT(ops)][24];
    for (size_t i = 0; i < KC_COUNT(ops); i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
        ops[i] = put_op(kc_cstr(keys[i]), KC__STORAGE_ABSENT, KC_STR("1"));
        ops[i].joined = i > 0;
    }
    commit_all(s, ops, results);
    for (size_t i = 0; i < KC_COUNT(ops); i++)
        assert_result(results[i], REFUSED, 0);
    ops[KC__STORAGE_MAX_GROUP].joined = false;
    commit_all(s, ops, results);
    for (size_t i = 0; i < KC_COUNT(ops); i++)
        assert_result(results[i], STORED, i + 2);
}

#endif
