/* SPDX-License-Identifier: Apache-2.0 */
#include "api_testing.h"

#include "apiserver/background/client_ca.h"

#include <stdio.h>

#define MAPS "/api/v1/namespaces/kube-system/configmaps"
#define MAP  MAPS "/extension-apiserver-authentication"

static api *start(void)
{
    return api_start(&(api_opts){.virtual_time = true, .client_ca = "authorities"});
}

static bool is_right(api *a)
{
    const reply *r = SEND(a, "GET", MAP);
    return r->status == 200 && !strcmp(r_text(r, "data.client-ca-file"), "authorities");
}

/* Within so many seconds of the server's time; the write itself takes real time. */
static void assert_right_within(api *a, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        api_advance(a, KC_SECOND);
        const int tries = i + 1 < seconds ? 500 : 60000;
        for (int j = 0; j < tries && !is_right(a); j++)
            kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        if (is_right(a))
            return;
    }
    fail_msg("not restored within %d seconds", seconds);
}

static void config_map_is_published_at_start(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_true(is_right(a));
}

static void changed_config_map_is_restored_and_other_keys_stay(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_code(SEND(a, "PATCH", MAP, .type = "application/merge-patch+json",
                     .body = "{'data':{'client-ca-file':'forged','other':'kept'}}"),
                200);
    assert_false(is_right(a));
    assert_right_within(a, 2);
    assert_at(SEND(a, "GET", MAP), "data.other", "kept");
    assert_code(SEND(a, "PATCH", MAP, .type = "application/merge-patch+json",
                     .body = "{'data':null,'immutable':true}"),
                200);
    assert_right_within(a, 2);
}

static void deleted_config_map_is_recreated(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_code(SEND(a, "DELETE", MAP), 200);
    assert_code(SEND(a, "GET", MAP), 404);
    assert_right_within(a, 2);
    api_restart(a);
    assert_true(is_right(a));
}

static void unchanged_config_map_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const char *before = r_text(SEND(a, "GET", MAP), "metadata.resourceVersion");
    for (int i = 0; i < 5; i++) {
        char body[64];
        snprintf(body, sizeof(body), "{'metadata':{'name':'m%d'}}", i);
        assert_code(SEND(a, "POST", MAPS, .body = body), 201);
        api_advance(a, KC_SECOND);
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
    assert_at(SEND(a, "GET", MAP), "metadata.resourceVersion", before);
}

/* Lets so many seconds of the server's time pass, one by one. Returns all comparisons so far. */
static long comparisons_after(api *a, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        api_advance(a, KC_SECOND);
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
    return api_metric(a, "kc_client_ca_comparisons_total");
}

static void unchanged_config_map_is_compared_once_after_a_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    api_restart(a);
    for (int i = 0; i < 1000 && comparisons_after(a, 1) < 1; i++)
        ;
    assert_int_equal(comparisons_after(a, 5), 1);
    assert_code(SEND(a, "POST", MAPS, .body = "{'metadata':{'name':'other'}}"), 201);
    for (int i = 0; i < 1000 && comparisons_after(a, 1) < 2; i++)
        ;
    assert_int_equal(comparisons_after(a, 5), 2);
}

TESTS(config_map_is_published_at_start, changed_config_map_is_restored_and_other_keys_stay,
      deleted_config_map_is_recreated, unchanged_config_map_is_not_written,
      unchanged_config_map_is_compared_once_after_a_restart)
