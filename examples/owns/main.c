/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owns: a controller that owns objects, keeps them in the desired state and reports in a status.
 * website.c has the controller; this is the program around it, with health, metrics and debug
 * endpoints.
 *
 *     kubectl apply -f examples/website.yaml -f examples/home.yaml
 *     kubectl get websites,configmaps
 *     curl 127.0.0.1:18002/debug/queue
 */
#include "website.h"

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_manager_opts opts = {
        .name = "website-controller",
        .health_address = getenv("HEALTH_ADDRESS"), /* "127.0.0.1:18002" */
        .metrics_address = getenv("METRICS_ADDRESS"),
    };
    kc_auto(kc_manager) *manager = kc_manager_new(&opts, &err);
    if (!manager || website_setup(manager, &err) < 0 || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
