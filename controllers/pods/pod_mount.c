/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_mount.c: prepares a pod with the runtime: once, with its volumes filled before the first
 * container starts, and again whenever their content changes.
 *
 * Every pod sync computes the content of all volumes from the cache; a hash tells whether the
 * runtime must update them. A volume that cannot be filled (a missing ConfigMap) blocks the start
 * of a new pod; a running pod keeps its files.
 */
#include "pods/pods.h"

#include "pods/pod_inputs.h"

static uint64_t hash_files(const char *volume, const kc__pod_volume_file *files, size_t n,
                           uint64_t h)
{
    h = kc_str_hash(kc_cstr(volume), h);
    for (size_t i = 0; i < n; i++) {
        h = kc_str_hash(kc_cstr(files[i].path), h);
        h = kc_str_hash(files[i].bytes, h ^ (uint64_t)files[i].mode);
    }
    return h;
}

typedef struct worked_out {
    kc__pod_volume_file *files;
    size_t n;
    bool ours;
} worked_out;

/* The desired content of each volume, and the hash over all. */
static int work_out(const kc__pod_inputs *in, worked_out *volumes, uint64_t *ret_hash,
                    kc_error *err)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < in->pod->spec.n_volumes; i++) {
        const kc_volume *v = &in->pod->spec.volumes[i];
        const int files = kc__pod_volume_files(in, v, &volumes[i].files, &volumes[i].n, err);
        if (files < 0)
            return kc_error_wrap(err, "MountVolume.SetUp failed for volume \"%s\" ", v->name);
        volumes[i].ours = files == 1;
        if (volumes[i].ours)
            hash = hash_files(v->name, volumes[i].files, volumes[i].n, hash);
    }
    *ret_hash = hash ? hash : 1;
    return 0;
}

static int fill_volumes(kc__pods *pods, const kc__pod_inputs *in, kc__pod_record *state,
                        kc_error *err)
{
    uint64_t hash = 0;
    const size_t n = in->pod->spec.n_volumes;
    worked_out *volumes = kc_arena_calloc(in->arena, n + 1, sizeof(*volumes));
    if (work_out(in, volumes, &hash, err) < 0)
        return kc_error_result(err);
    if (hash == state->filled)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (volumes[i].ours &&
            pods->runtime->ops->fill(pods->runtime, in->pod, &in->pod->spec.volumes[i],
                                     volumes[i].files, volumes[i].n, err) < 0)
            return kc_error_wrap(err, "MountVolume.SetUp failed for volume \"%s\" ",
                                 in->pod->spec.volumes[i].name);
    state->filled = hash;
    return 0;
}

kc__pod_inputs kc__pods_inputs(const kc__pods *pods, kc_client *client, const kc_pod *pod,
                               kc__pod_record *state, kc_arena *arena)
{
    return (kc__pod_inputs){.client = client,
                            .pod = pod,
                            .state = state,
                            .arena = arena,
                            .now = kc_clock_wall(pods->clock),
                            .api_server = pods->opts.api_server,
                            .issues_tokens = pods->runtime->reads_files,
                            .has_root_ca = pods->opts.has_root_ca};
}

int kc__pods_mount(kc__pods *pods, kc_client *client, const kc_pod *pod, kc__pod_record *state,
                   kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    const kc__pod_inputs in = kc__pods_inputs(pods, client, pod, state, &arena);
    kc__pods_address(pods, pod, state);
    if (!state->prepared && pods->runtime->ops->prepare(pods->runtime, pod, err) < 0)
        return kc_error_result(err);
    if (fill_volumes(pods, &in, state, err) < 0)
        return kc_error_result(err);
    state->prepared = true;
    state->mount_failure_reported = false;
    return 0;
}
