/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_frames.c: a small cache of watch frames in PARTS queues, searched from the newest.
 *
 *     revision % PARTS ──▶ part: │ key, frame │ key, frame │ …        newest last
 *
 * Loops deliver the same events at the same time. So a frame is looked up and encoded under the
 * lock of its part: the second loop waits for the first and finds the frame. Consecutive changes
 * are in different parts, and the search goes backwards: it ends after a few entries. When a part
 * has too many entries or bytes, the oldest entry is evicted; a single frame always fits.
 *
 * In front of this cache, each loop keeps the frames that it has used last (`near`): a thousand
 * watches of a loop take one lock for an event, not a thousand, and count shared frames without
 * touching the counters of another loop. Only short frames are kept there, as copies of the loop's
 * own: a reference count that several loops change costs more than the copy.
 *
 * Identity: every change has its own revision; the hash of the object's key is compared as well.
 * Names of built-in versions are constants, so equal addresses are equal names. A custom resource
 * is compared by address and by the number of its catalog, which is never reused: so watches that
 * began before and after a change of CRDs do not share frames.
 *
 * Threads: any. A part's mutex is taken last, except for the locks that rendering an object takes.
 */
#include "apiserver/verbs/watch_frames.h"

#include "apiserver/kinds/remote_conversion.h"
#include "kc/thread.h"

enum { PARTS = 8, ENTRIES = 64, AROUND_OBJECT = 64 };
/* Limits of one loop: number of frames, maximum size of a frame. */
enum { NEAR = 16, NEAR_BYTES = 64 << 10 };

typedef struct frame_key {
    uint64_t revision, object;
    const char *group, *version; /* Of the resource. */
    uint64_t catalog_number;     /* Number of the catalog for a custom resource; 0: built in. */
    kc__exchange_item_type type;
    kc__rest_representation as;
    kc__print_meta_version meta;
} frame_key;

typedef struct frame_entry {
    frame_key key;
    kc__http_shared_bytes *frame;
} frame_entry;

typedef struct frame_part {
    kc_mutex mutex; /* Guards the fields below. */
    frame_entry entries[ENTRIES];
    size_t first, n;
    size_t bytes;
} frame_part;

struct kc__rest_frames {
    kc__memory_account *memory;
    kc_counter *made, *shared;
    kc_gauge *bytes;
    frame_part parts[PARTS];
};

/* ---- create and free ---- */

static int frames_count_in(kc__rest_frames *frames, kc_metrics *metrics, kc_error *err)
{
    kc_metric *sent = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "kc_watch_frames_total",
            .help = "Events sent to watches: serialized for the first watch of a representation "
                    "(made), or reused for another (shared).",
            .labels = {{"result", KC_LABEL_VALUES("made", "shared")}}},
        err);
    kc_metric *bytes = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "kc_watch_frame_bytes",
                          .help = "Bytes of serialized watch events kept for reuse."},
        err);
    if (!sent || !bytes)
        return kc_error_result(err);
    frames->made = kc_metric_counter(sent, KC_STR("made"));
    frames->shared = kc_metric_counter(sent, KC_STR("shared"));
    frames->bytes = kc_metric_gauge(bytes);
    return 0;
}

kc__rest_frames *kc__rest_frames_new(kc_metrics *metrics, kc__memory_account *memory, kc_error *err)
{
    kc__rest_frames *frames = kc_new(kc__rest_frames);
    frames->memory = memory;
    for (size_t i = 0; i < PARTS; i++)
        kc_mutex_init(&frames->parts[i].mutex);
    return frames_count_in(frames, metrics, err) < 0 ? kc__rest_frames_free(frames) : frames;
}

/* ---- the frames of a loop ---- */

typedef struct near_entry {
    frame_key key;
    const kc__store_event *event; /* Only compared: it may be freed. */
    kc__http_shared_bytes *frame; /* Of the loop's own; NULL: unused. */
} near_entry;

struct kc__rest_near_frames {
    kc__rest_frames *frames;
    near_entry entries[NEAR];
    unsigned shared; /* Uses that are not yet added to the metrics. */
};

kc__rest_near_frames *kc__rest_near_frames_new(kc__rest_frames *frames)
{
    kc__rest_near_frames *near = kc_new(kc__rest_near_frames);
    near->frames = frames;
    return near;
}

kc__rest_near_frames *kc__rest_near_frames_free(kc__rest_near_frames *near)
{
    for (size_t i = 0; near && i < NEAR; i++)
        kc__http_shared_bytes_unref(near->entries[i].frame);
    free(near);
    return NULL;
}

/* ---- one part; with its mutex held ---- */

static frame_entry *entry_at(frame_part *part, size_t i)
{
    return &part->entries[(part->first + i) % ENTRIES];
}

static bool is_same_key(const frame_key *a, const frame_key *b)
{
    return a->revision == b->revision && a->object == b->object && a->type == b->type &&
           a->as == b->as && a->meta == b->meta && a->group == b->group &&
           a->version == b->version && a->catalog_number == b->catalog_number;
}

static kc__http_shared_bytes *part_find(frame_part *part, const frame_key *key)
{
    for (size_t i = part->n; i-- > 0;) {
        frame_entry *entry = entry_at(part, i);
        if (is_same_key(&entry->key, key))
            return kc__http_shared_bytes_ref(entry->frame);
    }
    return NULL;
}

static void count_bytes(kc__rest_frames *frames, frame_part *part, int64_t bytes)
{
    part->bytes += (size_t)bytes;
    kc_gauge_add(frames->bytes, (double)bytes);
    kc__memory_add(frames->memory, KC__MEMORY_CACHES, bytes);
}

static void part_drop_oldest(kc__rest_frames *frames, frame_part *part)
{
    frame_entry *entry = entry_at(part, 0);
    count_bytes(frames, part, -(int64_t)entry->frame->n);
    kc__http_shared_bytes_unref(entry->frame);
    part->first = (part->first + 1) % ENTRIES;
    part->n--;
}

static void part_add(kc__rest_frames *frames, frame_part *part, const frame_key *key,
                     kc__http_shared_bytes *frame)
{
    while (part->n == ENTRIES || (part->n && part->bytes + frame->n > KC__REST_FRAME_BYTES / PARTS))
        part_drop_oldest(frames, part);
    *entry_at(part, part->n++) =
        (frame_entry){.key = *key, .frame = kc__http_shared_bytes_ref(frame)};
    count_bytes(frames, part, (int64_t)frame->n);
}

kc__rest_frames *kc__rest_frames_free(kc__rest_frames *frames)
{
    if (!frames)
        return NULL;
    for (size_t i = 0; i < PARTS; i++) {
        while (frames->parts[i].n)
            part_drop_oldest(frames, &frames->parts[i]);
        kc_mutex_done(&frames->parts[i].mutex);
    }
    free(frames);
    return NULL;
}

/* ---- frames ---- */

/* An object that a webhook has converted is kept by its own revision: it is converted first. */
static kc_object *left_object(kc__rest_renderer *renderer, const kc__store_event *event)
{
    if (renderer->form.as == KC__REST_AS_PARTIAL ||
        !kc__remote_is_needed(renderer->resource, event->previous))
        return kc_object_with_revision(event->previous, event->revision);
    kc_auto(kc_object) *shown = kc__rest_render_object(renderer, event->previous, NULL);
    renderer->as_stored = shown != NULL;
    return shown ? kc_object_with_revision(shown, event->revision) : NULL;
}

kc_object *kc__rest_watch_change_object(kc__rest_renderer *renderer,
                                        const kc__rest_watch_change *change)
{
    const kc__store_event *event = change->event;
    if (!event)
        return kc_object_ref(change->object);
    bool left = change->type == KC__EXCHANGE_ITEM_DELETED && event->type != KC__STORE_DELETED;
    return left ? left_object(renderer, event) : kc_object_ref(event->object);
}

/* FNV-1a. */
static uint64_t hash_of_key(const kc__store_event *event)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < event->key_length; i++)
        hash = (hash ^ (unsigned char)event->key[i]) * 1099511628211u;
    return hash;
}

static frame_key key_of(const kc__rest_renderer *renderer, const kc__rest_watch_change *change)
{
    const kc__resource *resource = renderer->resource;
    return (frame_key){.revision = change->event->revision,
                       .object = hash_of_key(change->event),
                       .group = resource->group,
                       .version = resource->version,
                       .catalog_number = renderer->catalog_number,
                       .type = change->type,
                       .as = renderer->form.as,
                       .meta = renderer->form.version};
}

static frame_part *part_of(kc__rest_frames *frames, const frame_key *key)
{
    return &frames->parts[key->revision % PARTS];
}

bool kc__rest_frames_has(const kc__rest_renderer *renderer, const kc__rest_watch_change *change)
{
    return change->event && renderer->form.as != KC__REST_AS_TABLE;
}

void kc__rest_frame_write(kc__rest_renderer *renderer, kc_buf *out, kc__exchange_item_type type,
                          const kc_object *object)
{
    static const char *const begins[] = {
        [KC__EXCHANGE_ITEM_ADDED] = "{\"type\":\"ADDED\",\"object\":",
        [KC__EXCHANGE_ITEM_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
        [KC__EXCHANGE_ITEM_DELETED] = "{\"type\":\"DELETED\",\"object\":",
        [KC__EXCHANGE_ITEM_BOOKMARK] = "{\"type\":\"BOOKMARK\",\"object\":"};
    const size_t start = out->n;
    kc_buf_reserve(out, kc_object_json(object).n + AROUND_OBJECT);
    kc_buf_puts(out, begins[type]);
    if (kc__rest_render_one(renderer, out, object, NULL) < 0)
        out->n = start;
    else
        kc_buf_append(out, KC_STR("}\n"));
}

static kc__http_shared_bytes *make_frame(const kc__rest_renderer *renderer,
                                         const kc__rest_watch_change *change)
{
    kc__rest_renderer own = *renderer;
    kc_auto(kc_object) *object = kc__rest_watch_change_object(&own, change);
    kc_scoped(kc_buf) text = {0};
    if (object)
        kc__rest_frame_write(&own, &text, change->type, object);
    return text.n ? kc__http_shared_bytes_new(kc_buf_str(&text)) : NULL;
}

kc__http_shared_bytes *kc__rest_frames_find(kc__rest_frames *frames,
                                            const kc__rest_renderer *renderer,
                                            const kc__rest_watch_change *change)
{
    const frame_key key = key_of(renderer, change);
    kc__http_shared_bytes *frame = NULL;
    kc_locked (&part_of(frames, &key)->mutex)
        frame = part_find(part_of(frames, &key), &key);
    if (frame)
        kc_counter_inc(frames->shared);
    return frame;
}

void kc__rest_frames_add(kc__rest_frames *frames, const kc__rest_renderer *renderer,
                         const kc__rest_watch_change *change, kc__http_shared_bytes *frame)
{
    const frame_key key = key_of(renderer, change);
    kc_locked (&part_of(frames, &key)->mutex)
        part_add(frames, part_of(frames, &key), &key, frame);
    kc_counter_inc(frames->made);
}

/* The frame from the cache, encoded if it is not cached. */
static kc__http_shared_bytes *get_or_make(kc__rest_frames *frames, const frame_key *key,
                                          const kc__rest_renderer *renderer,
                                          const kc__rest_watch_change *change)
{
    frame_part *part = part_of(frames, key);
    kc__http_shared_bytes *frame = NULL;
    bool found = false;
    kc_locked (&part->mutex) {
        frame = part_find(part, key);
        found = frame != NULL;
        if (!found)
            frame = make_frame(renderer, change);
        if (!found && frame)
            part_add(frames, part, key, frame);
    }
    if (frame)
        kc_counter_inc(found ? frames->shared : frames->made);
    return frame;
}

/* Replaces an entry by a copy of the frame. Adds the pending uses to the metrics. */
static void near_keep(kc__rest_near_frames *near, near_entry *entry, const frame_key *key,
                      const kc__store_event *event, const kc__http_shared_bytes *frame)
{
    if (near->shared)
        kc_counter_add(near->frames->shared, near->shared);
    near->shared = 0;
    kc__http_shared_bytes_unref(entry->frame);
    *entry = (near_entry){.key = *key,
                          .event = event,
                          .frame = kc__http_shared_bytes_new(kc__http_shared_bytes_str(frame))};
}

/* Whether the entry is the frame of the change. Address and revision identify an event, also after
 * another one was allocated at its address; so the key is not hashed again for each watch. */
static bool near_has(const near_entry *entry, const kc__rest_renderer *renderer,
                     const kc__rest_watch_change *change)
{
    const frame_key *key = &entry->key;
    return entry->event == change->event && key->revision == change->event->revision &&
           key->type == change->type && key->as == renderer->form.as &&
           key->meta == renderer->form.version && key->group == renderer->resource->group &&
           key->version == renderer->resource->version &&
           key->catalog_number == renderer->catalog_number;
}

kc__http_shared_bytes *kc__rest_frames_get(kc__rest_near_frames *near,
                                           const kc__rest_renderer *renderer,
                                           const kc__rest_watch_change *change)
{
    near_entry *entry = &near->entries[change->event->revision % NEAR];
    if (entry->frame && near_has(entry, renderer, change)) {
        near->shared++;
        return kc__http_shared_bytes_ref(entry->frame);
    }
    const frame_key key = key_of(renderer, change);
    kc__http_shared_bytes *frame = get_or_make(near->frames, &key, renderer, change);
    if (frame && frame->n <= NEAR_BYTES)
        near_keep(near, entry, &key, change->event, frame);
    return frame;
}
