/* SPDX-License-Identifier: Apache-2.0 */
/* password_hash.c: hashes of passwords as text: salts, a hash of another implementation, damaged
 * text. */
#include "testing.h"

#include "apiserver/people/password_hash.h"

#include <time.h>

static const kc__people_cost cheap = {4, 8, 1};

static void same_password_gets_another_salt_and_verifies(void **state)
{
    (void)state;
    kc_scoped(kc_buf) one = {0}, two = {0};
    assert_int_equal(kc__people_hash_make(KC_STR("correct horse"), &cheap, &one, NULL), 0);
    assert_int_equal(kc__people_hash_make(KC_STR("correct horse"), &cheap, &two, NULL), 0);
    assert_string_not_equal(kc_buf_cstr(&one), kc_buf_cstr(&two));
    assert_true(kc_str_starts(kc_buf_str(&one), KC_STR("$scrypt$ln=4,r=8,p=1$")));
    assert_true(kc__people_hash_verify(KC_STR("correct horse"), kc_buf_str(&one), NULL));
    assert_true(kc__people_hash_verify(KC_STR("correct horse"), kc_buf_str(&two), NULL));
    assert_false(kc__people_hash_verify(KC_STR("correct horsf"), kc_buf_str(&one), NULL));
    assert_false(kc__people_hash_verify(KC_STR(""), kc_buf_str(&one), NULL));
}

/* Computed with Python's hashlib. */
static void hash_of_another_implementation_verifies(void **state)
{
    (void)state;
    assert_true(kc__people_hash_verify(
        KC_STR("pleaseletmein"),
        KC_STR(
            "$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$wOBlTLx2kTvDnlM7GeRqLPJSaL8dgO6Mbiarn6WFHEI"),
        &cheap));
}

static void damaged_text_never_verifies(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "",
        "$scrypt$",
        "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$",
        "$scrypt$ln=0,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=20,r=32,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=8,p=1x$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=65536,t=3,p=4$AAAA$AAAA",
    };
    for (size_t i = 0; i < KC_COUNT(damaged); i++)
        assert_false(kc__people_hash_verify(KC_STR("x"), kc_cstr(damaged[i]), &cheap));
}

/* CPU time, because other processes run meanwhile. They still slow this one down, by the caches and
 * the other thread of its core: the least of several times comes near to what the work takes alone.
 */
static int64_t cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_alike(const int64_t times[2])
{
    return times[1] > times[0] / 2 && times[0] > times[1] / 2;
}

/* The time of a check must not tell whether the account exists. */
static void unknown_hash_costs_as_much_as_a_known_one(void **state)
{
    (void)state;
    const kc__people_cost cost = {13, 8, 1};
    int64_t best[2] = {INT64_MAX, INT64_MAX};
    kc_scoped(kc_buf) hash = {0};
    assert_int_equal(kc__people_hash_make(KC_STR("correct horse"), &cost, &hash, NULL), 0);
    for (int i = 0; i < 10 || (i < 200 && !is_alike(best)); i++) {
        const kc_str texts[] = {kc_buf_str(&hash), {0}};
        for (size_t j = 0; j < 2; j++) {
            const int64_t began = cpu_time();
            kc__people_hash_verify(KC_STR("wrong"), texts[j], &cost);
            best[j] = KC_MIN(best[j], cpu_time() - began);
        }
    }
    assert_true(is_alike(best));
}

TESTS(same_password_gets_another_salt_and_verifies, hash_of_another_implementation_verifies,
      damaged_text_never_verifies, unknown_hash_costs_as_much_as_a_known_one)
