/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_orders.c: what people ask of a machine, by an annotation:
 *
 *     kubectl annotate banana one kubecontroller.io/phase-action=reset
 *
 * An order is carried out once, though annotation and status cannot be written in one go:
 *
 *     reset ──▶ "reset@417"  the annotation, claimed: 417 is the resourceVersion it was seen with
 *           ──▶ status       changed, with the line {action: reset, id: "417"} in its audit
 *           ──▶ (removed)    the annotation
 *
 * After a crash a claimed order whose id the audit has is only removed; one it lacks is carried
 * out. Who asks again in the meantime writes another value, which is another order. The answer is
 * an event; what is not possible is answered too, and removed.
 */
#include "app/phase_internal.h"

#include "kc/finalizer.h"

/* Its slices are of `text`. */
typedef struct request {
    char *text, *who, *id;
    kc_str word;
} request;

static void request_done(request *r)
{
    free(r->text);
    free(r->who);
    free(r->id);
}

static char *annotation(const kc__phase_walk *w, kc_str name)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str value = kc_object_annotation(w->object, name, &arena);
    return value.p ? kc_str_dup(value) : NULL;
}

static bool read_request(const kc__phase_walk *w, request *ret)
{
    char *text = annotation(w, KC_STR(KC_PHASE_ACTION));
    if (!text)
        return false;
    kc_str rest = kc_cstr(text);
    const kc_str word = kc_str_cut(&rest, '@');
    *ret = (request){.text = text, .word = kc_str_trim(word)};
    ret->id = rest.p ? kc_str_dup(rest) : NULL;
    ret->who = annotation(w, KC_STR(KC_PHASE_ACTION_BY));
    return true;
}

/* ---- the annotation ---- */

static int claim(kc__phase_walk *w, const request *r, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(w->object);
    kc_autofree char *value =
        kc_asprintf("%.*s@%.*s", KC_ARG(r->word), KC_ARG(kc_object_resource_version(w->object)));
    kc_edit_set_annotation(edit, KC_STR(KC_PHASE_ACTION), kc_cstr(value));
    kc_auto(kc_object) *claimed = kc_edit_freeze(edit, err);
    return claimed ? kc__walk_patch(w, claimed, err) : -1;
}

static int remove_it(kc__phase_walk *w, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(w->object);
    kc_edit_remove_annotation(edit, KC_STR(KC_PHASE_ACTION));
    kc_edit_remove_annotation(edit, KC_STR(KC_PHASE_ACTION_BY));
    kc_auto(kc_object) *without = kc_edit_freeze(edit, err);
    return without ? kc__walk_patch(w, without, err) : -1;
}

/* ---- the answer ---- */

static void count(kc__phase_walk *w, kc_str word, const char *answer)
{
    const kc__phase_controller *c = w->controller;
    kc_counter_inc(kc_counter_of(c->orders, kc_cstr(c->name), word, kc_cstr(answer)));
}

/* Removed first: what is said twice is better than what is done twice, but here nothing is done. */
static int refuse(kc__phase_walk *w, const request *r, const char *why, kc_error *err)
{
    if (remove_it(w, err) < 0)
        return -1;
    count(w, r->word, "refused");
    kc_event(w->ctx->recorder, w->object, KC_WARNING, "ActionRefused", "%s", why);
    return 1;
}

static int refuse_word(kc__phase_walk *w, const request *r, kc_error *err)
{
    const char *words[KC_PHASE_ACTIONS];
    for (size_t i = 0; i < KC_PHASE_ACTIONS; i++)
        words[i] = kc_phase_action_name((kc_phase_action)i);
    const char *nearest = kc_str_nearest(r->word, words, KC_COUNT(words));
    kc_autofree char *why =
        kc_asprintf("there is no action \"%.*s\": %s%s%s", KC_ARG(r->word),
                    nearest ? "did you mean \"" : "there are reset, revert, continue and purge",
                    nearest ? nearest : "", nearest ? "\"?" : "");
    return refuse(w, r, why, err);
}

/* ---- carrying it out ---- */

/* An object that people want to be gone: its finalizer is given up. */
static int let_go(kc__phase_walk *w, kc_error *err)
{
    kc_object *object = kc_object_ref(w->object);
    const int removed = kc_finalizer_remove(w->ctx->client, &object, KC_PHASE_FINALIZER, err);
    kc_object_unref(object);
    if (removed < 0)
        return -1;
    kc_event(w->ctx->recorder, w->object, KC_NORMAL, "ActionDone",
             "purge: it is let go in phase %.*s", KC_ARG(kc__walk_phase(w)));
    count(w, KC_STR("purge"), "done");
    w->gone = true;
    return 1;
}

static int carry_out(kc__phase_walk *w, const request *r, const kc_phase_order *order,
                     kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_autofree char *before = kc_str_dup(kc__walk_phase(w));
    kc_auto(kc_object) *changed =
        kc_phase_act(w->controller->machine, w->object, order, w->ctx->clock, &why);
    if (!changed)
        return refuse(w, r, kc_error_text(&why), err);
    if (!r->id)
        return claim(w, r, err) < 0 ? -1 : 1;
    if (kc__walk_status(w, changed, err) < 0)
        return -1;
    count(w, r->word, "done");
    kc_event(w->ctx->recorder, w->object, KC_NORMAL, "ActionDone", "%.*s: from %s to %.*s",
             KC_ARG(r->word), before, KC_ARG(kc__walk_phase(w)));
    return 1;
}

static int obey(kc__phase_walk *w, const request *r, kc_error *err)
{
    kc_phase_order order = {.who = r->who, .id = r->id};
    if (!kc_phase_action_of(r->word, &order.action))
        return refuse_word(w, r, err);
    if (order.action == KC_PHASE_PURGE && kc_object_being_deleted(w->object))
        return let_go(w, err);
    if (r->id && kc_phase_acted(kc_view_root(w->view), kc_cstr(r->id)))
        return remove_it(w, err) < 0 ? -1 : 1;
    return carry_out(w, r, &order, err);
}

int kc__walk_orders(kc__phase_walk *w, kc_error *err)
{
    request r;
    if (!read_request(w, &r))
        return 0;
    const int done = obey(w, &r, err);
    request_done(&r);
    return done;
}
