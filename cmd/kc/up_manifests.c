/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_manifests.c: the directory of `kc up --manifests`, for appliances: a program that writes a
 * file into it needs no client and no credentials.
 *
 * The directory is a runnable of the manager with a thread of its own, which sleeps until a file
 * changes. Without the flag there is no thread. In safe mode the directory is not applied: an
 * object of it may be the cause of the crashes.
 */
#include "up.h"

#include "kc/file.h"

static kc__manifests_opts up_manifests_opts(const kc__cli_up *up)
{
    const kc__cli_manifests_options *o = &up->options->manifests;
    return (kc__manifests_opts){.dir = o->dir,
                                .client = up->admin,
                                .set_ns = "kube-system",
                                .set_name = KC__CLI_UP_APPLY_SET,
                                .tooling = "kc/v" KC_VERSION,
                                .no_prune = !o->prune,
                                .resync = o->resync,
                                .log = up->log,
                                .metrics = up->metrics};
}

int kc__cli_up_check_manifests(kc__cli_up *up, kc_error *err)
{
    if (!up->options->manifests.dir)
        return 0;
    const kc__manifests_opts opts = up_manifests_opts(up);
    kc_auto(kc__manifests) *checked = kc__manifests_new(&opts, err);
    return checked ? 0 : kc_error_wrap(err, "--manifests");
}

/* A warning only: the volume of a ConfigMap has mode 0777, and no other user can reach it. */
static void warn_of_other_users(const kc__cli_up *up)
{
    kc_scoped(kc_error) why = {0};
    if (kc_file_check_trusted(up->options->manifests.dir, &why) < 0)
        kc_log_warn(up->log, "other users can change the manifests, and so every object",
                    kc_kv("err", &why));
}

static int run_manifests(kc_cancel *stop, void *user, kc_error *err)
{
    return kc__manifests_run(user, stop, err);
}

int kc__cli_up_add_manifests(kc__cli_up *up, kc_error *err)
{
    if (!up->options->manifests.dir || up->safe)
        return 0;
    kc__manifests_opts opts = up_manifests_opts(up);
    opts.recorder =
        kc_recorder_with_component(kc_manager_recorder(up->manager), "kc-manifests", NULL);
    up->manifests = kc__manifests_new(&opts, err);
    if (!up->manifests)
        return kc_error_wrap(err, "--manifests");
    warn_of_other_users(up);
    return kc_manager_add(
        up->manager,
        &(kc_runnable){.name = "manifests", .run = run_manifests, .user = up->manifests}, err);
}
