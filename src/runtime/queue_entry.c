/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_entry.c: a queue's entries and their causes.
 *
 * An entry has room for most keys; the few that are longer get one of their own size. Most keys
 * have one cause, themselves: that is kept in the entry. A block of causes, with room for the keys
 * of other objects, is lent to an entry when it needs one; some are kept for the next, so that
 * nothing is allocated while the queue does not grow.
 */
#include "runtime/queue_internal.h"

enum { SPARE_CAUSES = 256 };

/* ---- entries ---- */

static kc__queue_entry *allocate(kc_queue *queue, size_t text)
{
    if (text <= KC__COMMON_TEXT)
        return kc__slabs_take(&queue->slabs);
    return kc_calloc(1, sizeof(kc__queue_entry) + text);
}

static void deallocate(kc_queue *queue, kc__queue_entry *entry)
{
    if (entry->slab)
        kc__slabs_give(&queue->slabs, entry);
    else
        free(entry);
}

static kc_str put_text(char *to, kc_str text)
{
    if (text.n)
        memcpy(to, text.p, text.n);
    return (kc_str){to, text.n};
}

kc__queue_entry *kc__queue_entry_new(kc_queue *queue, kc_key key, uint64_t hash)
{
    kc__queue_entry *entry = allocate(queue, key.ns.n + key.name.n);
    entry->node.hash = hash;
    entry->node.key.ns = put_text(entry->text, key.ns);
    entry->node.key.name = put_text(entry->text + key.ns.n, key.name);
    kc__key_table_insert(&queue->entries, &entry->node);
    return entry;
}

void kc__queue_entry_free(kc_queue *queue, kc__queue_entry *entry)
{
    kc__key_table_remove(&queue->entries, &entry->node);
    kc__queue_drop_causes(queue, &entry->waits);
    deallocate(queue, entry);
}

void kc__queue_entries_done(kc_queue *queue)
{
    kc__key_table_each(&queue->entries, node)
    {
        kc__queue_entry *entry = kc_container_of(node, kc__queue_entry, node);
        free(entry->waits.block);
        free(entry->works.block);
        deallocate(queue, entry);
    }
    kc__key_table_done(&queue->entries);
    kc__slabs_done(&queue->slabs);
    for (kc__causes *next, *causes = queue->spare_causes; causes; causes = next) {
        next = causes->next;
        free(causes);
    }
}

/* ---- causes ---- */

static kc__causes *borrow_causes(kc_queue *queue)
{
    kc__causes *causes = queue->spare_causes;
    if (!causes)
        return kc_new(kc__causes);
    queue->spare_causes = causes->next;
    queue->n_spare_causes--;
    causes->n = causes->newest = 0;
    return causes;
}

void kc__queue_drop_causes(kc_queue *queue, kc__why *why)
{
    kc__causes *block = kc_take(why->block);
    why->n = 0;
    if (!block)
        return;
    if (queue->n_spare_causes >= SPARE_CAUSES) {
        free(block);
        return;
    }
    block->next = queue->spare_causes;
    queue->spare_causes = block;
    queue->n_spare_causes++;
}

static void push_cause(kc__causes *causes, const kc_queue_cause *cause, int64_t at)
{
    causes->newest = (causes->newest + 1) % KC_QUEUE_CAUSES;
    causes->n = KC_MIN(causes->n + 1, (unsigned)KC_QUEUE_CAUSES);
    kc_queue_cause *kept = &causes->list[causes->newest];
    char *text = causes->text[causes->newest];
    kc_str ns = kc_str_sub(cause->key.ns, 0, KC__CAUSE_TEXT);
    *kept = *cause;
    kept->at = at;
    kept->key.ns = put_text(text, ns);
    kept->key.name =
        put_text(text + ns.n, kc_str_sub(cause->key.name, 0, (size_t)KC__CAUSE_TEXT - ns.n));
}

static kc_queue_cause own_cause(const kc__own_cause *own)
{
    return (kc_queue_cause){
        .why = own->why, .kind = own->kind, .revision = own->revision, .at = own->at};
}

/* The block, with the one cause there was before it. */
static kc__causes *block_of(kc_queue *queue, kc__why *why)
{
    if (why->block)
        return why->block;
    why->block = borrow_causes(queue);
    kc_queue_cause first = own_cause(&why->own);
    if (why->n)
        push_cause(why->block, &first, first.at);
    return why->block;
}

void kc__queue_note_cause(kc_queue *queue, kc__queue_entry *entry, const kc_queue_cause *cause,
                          int64_t now)
{
    kc__why *why = &entry->waits;
    bool own = !cause->key.name.n || kc__key_same(cause->key, entry->node.key);
    if (own && why->n == 0) {
        why->own = (kc__own_cause){cause->kind, cause->revision, now, cause->why};
        why->n = 1;
        return;
    }
    kc_queue_cause kept = *cause;
    if (own)
        kept.key = (kc_key){0};
    push_cause(block_of(queue, why), &kept, now);
    if (why->n < UINT32_MAX)
        why->n++;
}

size_t kc__queue_causes(const kc__why *why, kc_key own, kc_queue_cause *ret, size_t *ret_more)
{
    const kc__causes *block = why->block;
    size_t n = block ? block->n : why->n;
    if (!block && n)
        ret[0] = own_cause(&why->own);
    for (size_t i = 0; block && i < n; i++)
        ret[i] = block->list[(block->newest + KC_QUEUE_CAUSES - i) % KC_QUEUE_CAUSES];
    for (size_t i = 0; i < n; i++)
        if (!ret[i].key.name.n)
            ret[i].key = own;
    *ret_more = why->n - n;
    return n;
}

const char *kc__why_text(kc_why why)
{
    static const char *const texts[] = {
        [KC_WHY_OTHER] = "Other",     [KC_WHY_CREATED] = "Created", [KC_WHY_UPDATED] = "Updated",
        [KC_WHY_DELETED] = "Deleted", [KC_WHY_GENERIC] = "Generic", [KC_WHY_RESYNC] = "Resync",
        [KC_WHY_RETRY] = "Retry",     [KC_WHY_REQUEUE] = "Requeue",
    };
    return (size_t)why < KC_COUNT(texts) ? texts[why] : "Other";
}
