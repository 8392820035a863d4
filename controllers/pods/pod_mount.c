/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_mount.c: a pod's place with the runtime: made once, its volumes filled before the first
 * container starts and again whenever what is in them has changed.
 *
 * All volumes are worked out at every look, from the cache; a hash over them says whether the
 * runtime has to be told. A volume that cannot be filled (a ConfigMap that there is not) keeps a
 * pod that has not started from starting; one that runs keeps the files it has.
 */
#include "pods/pods.h"

#include "pods/pod_inputs.h"

static uint64_t hash_files(const char *volume, const kc__volume_file *files, size_t n, uint64_t h)
{
    h = kc_str_hash(kc_cstr(volume), h);
    for (size_t i = 0; i < n; i++) {
        h = kc_str_hash(kc_cstr(files[i].path), h);
        h = kc_str_hash(files[i].bytes, h ^ (uint64_t)files[i].mode);
    }
    return h;
}

typedef struct worked_out {
    kc__volume_file *files;
    size_t n;
    bool ours;
} worked_out;

/* What each volume should hold; the hash over all. */
static int work_out(const kc__inputs *in, worked_out *volumes, uint64_t *ret_hash, kc_error *err)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < in->pod->spec.n_volumes; i++) {
        const kc_volume *v = &in->pod->spec.volumes[i];
        const int files = kc__volume_files(in, v, &volumes[i].files, &volumes[i].n, err);
        if (files < 0)
            return kc_error_wrap(err, "MountVolume.SetUp failed for volume \"%s\" ", v->name);
        volumes[i].ours = files == 1;
        if (volumes[i].ours)
            hash = hash_files(v->name, volumes[i].files, volumes[i].n, hash);
    }
    *ret_hash = hash ? hash : 1;
    return 0;
}

static int fill_volumes(kc__pods *pods, const kc__inputs *in, kc__pod_record *state, kc_error *err)
{
    uint64_t hash = 0;
    const size_t n = in->pod->spec.n_volumes;
    worked_out *volumes = kc_arena_calloc(in->arena, n + 1, sizeof(*volumes));
    if (work_out(in, volumes, &hash, err) < 0)
        return -1;
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

int kc__pods_mount(kc__pods *pods, kc_client *client, const kc_pod *pod, kc__pod_record *state,
                   kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    const kc__inputs in = {.client = client, .pod = pod, .state = state, .arena = &arena};
    kc__pods_address(pods, pod, state);
    if (!state->prepared && pods->runtime->ops->prepare(pods->runtime, pod, err) < 0)
        return -1;
    if (fill_volumes(pods, &in, state, err) < 0)
        return -1;
    state->prepared = true;
    state->mount_said = false;
    return 0;
}
