/* SPDX-License-Identifier: Apache-2.0 */
/* testenv_apply.c: applies YAML objects to the environment's server (kc/apply.h). */
#include "embed/testenv_internal.h"

#include "kc/apply.h"

int kc_testenv_apply(kc_testenv *env, kc_str yaml, kc_error *err)
{
    return kc_apply_text(env->client, yaml, NULL, err);
}

int kc_testenv_apply_file(kc_testenv *env, const char *path, kc_error *err)
{
    return kc_apply_file(env->client, path, NULL, err) < 0 ? kc_error_wrap(err, "apply") : 0;
}
