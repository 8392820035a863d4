/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_policy_config.c: reads the configuration of the plugin ImagePolicyWebhook:
 *
 *     imagePolicy:
 *       kubeConfigFile: /etc/kubernetes/images.kubeconfig     the webhook and the credentials
 *       allowTTL: 50             seconds that an allowed result is cached; -1: not at all
 *       denyTTL: 50              the same for a denial
 *       retryBackoff: 500        milliseconds before the second attempt
 *       defaultAllow: true       a webhook that fails allows
 *
 * The format has no version: apiVersion and kind are allowed and ignored, as in Kubernetes.
 */
#include "apiserver/admission/plugins/image_policy.h"

#include "kc/yaml.h"

kc__admission_image_policy *kc__admission_image_policy_free(kc__admission_image_policy *policy)
{
    if (!policy)
        return NULL;
    kc__authz_result_cache_free(policy->cache);
    kc__webhook_kubeconfig_done(&policy->webhook);
    kc_arena_done(&policy->arena);
    free(policy);
    return NULL;
}

/* A duration of the file: a number of units. -1 disables, 0 is the default. */
typedef struct image_duration {
    const char *name;
    int64_t unit, min, max, otherwise;
} image_duration;

static const image_duration backoff_range = {"retryBackoff", KC_MILLISECOND, 1, 5 * KC_MINUTE,
                                             500 * KC_MILLISECOND};
static const image_duration allow_range = {"allowTTL", KC_SECOND, KC_SECOND, 30 * KC_MINUTE,
                                           5 * KC_MINUTE};
static const image_duration deny_range = {"denyTTL", KC_SECOND, KC_SECOND, 30 * KC_MINUTE,
                                          30 * KC_SECOND};

static int read_image_duration(const kc_value *config, const image_duration *range, int64_t *ret,
                               kc_error *err)
{
    const kc_value *value = kc_value_get(config, range->name);
    kc_scoped(kc_buf) why = {0};
    int64_t n = 0;
    if (value && !kc_value_as_i64(value, &n))
        return kc_error_set(err, KC_INVALID, "imagePolicy.%s: must be an integer", range->name);
    if (n == -1 || n == 0) {
        *ret = n ? 0 : range->otherwise;
        return 0;
    }
    if (n >= range->min / range->unit && n > 0 && n <= range->max / range->unit) {
        *ret = n * range->unit;
        return 0;
    }
    kc_buf_puts(&why, "valid value is between ");
    kc_duration_write(&why, range->min);
    kc_buf_puts(&why, " and ");
    kc_duration_write(&why, range->max);
    return kc_error_set(err, KC_INVALID, "imagePolicy.%s: %s, got %lld", range->name,
                        kc_buf_cstr(&why), (long long)n);
}

static int read_image_policy(const kc_value *config, kc__admission_image_policy *policy,
                             kc_error *err)
{
    const kc_str file = kc_value_as_str(kc_value_get(config, "kubeConfigFile"));
    if (!file.n)
        return kc_error_set(err, KC_INVALID, "imagePolicy.kubeConfigFile: Required value");
    if (read_image_duration(config, &backoff_range, &policy->backoff, err) < 0 ||
        read_image_duration(config, &allow_range, &policy->allow_ttl, err) < 0 ||
        read_image_duration(config, &deny_range, &policy->deny_ttl, err) < 0)
        return kc_error_result(err);
    policy->default_allow = kc_value_as_bool(kc_value_get(config, "defaultAllow"), false);
    policy->kubeconfig = kc_arena_printf(&policy->arena, "%.*s", KC_ARG(file));
    if (kc__webhook_kubeconfig_read(policy->kubeconfig, &policy->webhook, err) < 0)
        return kc_error_result(err);
    policy->target = policy->webhook.target;
    policy->target.url = kc__http_url_with_timeout(
        policy->target.url, KC__ADMISSION_IMAGE_POLICY_TIMEOUT, &policy->arena);
    return 0;
}

kc__admission_image_policy *kc__admission_image_policy_parse(kc_str text, kc_error *err)
{
    kc_auto(kc_view) *view = kc_yaml_parse(text, NULL, err);
    kc_auto(kc__admission_image_policy) *policy = kc_new(kc__admission_image_policy);
    if (!view ||
        read_image_policy(kc_value_get(kc_view_root(view), "imagePolicy"), policy, err) < 0)
        return NULL;
    policy->cache = kc__authz_result_cache_new(NULL);
    return kc_take(policy);
}
