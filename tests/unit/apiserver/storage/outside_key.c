/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a key outside of this program, which ciphers authenticate. */
#include "apiserver/storage/storage.h"
#include "testing.h"

static void assert_outside(const char *root, const char *key, const char *expected)
{
    const kc__storage storage = {.root = root};
    kc_scoped(kc_buf) room = {0};
    assert_str(kc__storage_outside_key(&storage, kc_cstr(key), &room), expected);
}

static void key_of_a_storage_without_another_root_is_unchanged(void **state)
{
    (void)state;
    assert_outside(NULL, "/registry/secrets/a/b", "/registry/secrets/a/b");
    assert_outside("/registry/", "/registry/secrets/a/b", "/registry/secrets/a/b");
}

static void key_has_the_root_that_it_has_outside(void **state)
{
    (void)state;
    assert_outside("/else/where/", "/registry/secrets/a/b", "/else/where/secrets/a/b");
    assert_outside("/else/where/", "/kc/incomplete", "/kc/incomplete");
}

TESTS(key_of_a_storage_without_another_root_is_unchanged, key_has_the_root_that_it_has_outside)
