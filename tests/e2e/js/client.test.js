// SPDX-License-Identifier: Apache-2.0
//
// The JavaScript client against a server of this build: what it creates, reads, pages through, watches, patches, replaces and deletes, and
// the errors it gets. The server and KUBECONFIG are given (scripts/e2e).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

/** The namespace of these tests. */
const namespace = `js-${process.pid}`;

/** A ConfigMap of these tests, as a request to create it. */
function configMap(name, data = { key: 'value' }, labels = undefined) {
    return { namespace, body: { metadata: { name, labels }, data } };
}

/** What a promise was rejected with. */
async function failure(promise) {
    try {
        await promise;
    } catch (error) {
        return error;
    }
    return assert.fail('should have been refused');
}

/** The Status in an error of the client, whose body is text or an object according to its version. */
function statusOf(error) {
    return typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
}

/** Resolves when `condition` holds; rejects after 90 seconds. */
async function eventually(condition, what) {
    const deadline = Date.now() + 90_000;
    while (!condition()) {
        assert.ok(Date.now() < deadline, `not within 90 seconds: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

function patchAs(strategy) {
    return k8s.setHeaderOptions('Content-Type', strategy);
}

before(async () => {
    await core.createNamespace({ body: { metadata: { name: namespace } } });
});

after(async () => {
    await core.deleteNamespace({ name: namespace });
});

describe('objects', () => {
    it('are created and read back', async () => {
        const made = await core.createNamespacedConfigMap(configMap('greeting', { text: 'hello' }));
        assert.equal(made.metadata.namespace, namespace);
        assert.ok(made.metadata.creationTimestamp instanceof Date);
        const read = await core.readNamespacedConfigMap({ name: 'greeting', namespace });
        assert.deepEqual(read, made);
        assert.equal(read.data.text, 'hello');
    });

    it('are replaced with the version that was read', async () => {
        const made = await core.createNamespacedConfigMap(configMap('replaced'));
        made.data = { other: 'thing' };
        const now = await core.replaceNamespacedConfigMap({ name: 'replaced', namespace, body: made });
        assert.deepEqual(now.data, { other: 'thing' });
        assert.notEqual(now.metadata.resourceVersion, made.metadata.resourceVersion);
        assert.equal(now.metadata.uid, made.metadata.uid);
    });

    it('are patched with merge patch', async () => {
        await core.createNamespacedConfigMap(configMap('merged', { keep: '1', remove: '1' }));
        const body = { data: { remove: null, add: '2' } };
        const now = await core.patchNamespacedConfigMap({ name: 'merged', namespace, body }, patchAs(k8s.PatchStrategy.MergePatch));
        assert.deepEqual(now.data, { keep: '1', add: '2' });
    });

    it('are patched with JSON Patch', async () => {
        await core.createNamespacedConfigMap(configMap('patched', { key: 'old' }));
        const body = [{ op: 'replace', path: '/data/key', value: 'new' }];
        const now = await core.patchNamespacedConfigMap({ name: 'patched', namespace, body }, patchAs(k8s.PatchStrategy.JsonPatch));
        assert.equal(now.data.key, 'new');
    });

    it('are deleted', async () => {
        await core.createNamespacedConfigMap(configMap('deleted'));
        const status = await core.deleteNamespacedConfigMap({ name: 'deleted', namespace });
        assert.equal(status.status, 'Success');
        const error = await failure(core.readNamespacedConfigMap({ name: 'deleted', namespace }));
        assert.equal(error.code, 404);
    });

    it('of another group keep number types', async () => {
        const labels = { app: 'web' };
        const spec = {
            replicas: 3,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web', ports: [{ containerPort: 8080 }] }] } },
        };
        const made = await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: 'web' }, spec } });
        assert.equal(made.spec.replicas, 3);
        assert.equal(made.spec.template.spec.containers[0].ports[0].containerPort, 8080);
        assert.equal(made.metadata.generation, 1);
    });

    it('keep any text unchanged', async () => {
        const text = 'line\n\ttab "quoted" \\ grüße 漢字 🎉 \u0001 </script>';
        await core.createNamespacedConfigMap(configMap('text', { text }));
        const read = await core.readNamespacedConfigMap({ name: 'text', namespace });
        assert.equal(read.data.text, text);
    });

    it('are created by the generic client from any manifest', async () => {
        const client = k8s.KubernetesObjectApi.makeApiClient(config);
        const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'generic', namespace }, stringData: { word: 'sesame' } };
        const made = await client.create(manifest);
        assert.equal(Buffer.from(made.data.word, 'base64').toString(), 'sesame');
        const read = await client.read(manifest);
        assert.equal(read.metadata.uid, made.metadata.uid);
        await client.delete(manifest);
    });
});

describe('lists', () => {
    before(async () => {
        for (let i = 0; i < 7; i++) {
            await core.createNamespacedConfigMap(configMap(`page-${i}`, {}, { list: 'paged', odd: String(i % 2 === 1) }));
        }
    });

    it('are equal with and without pages', async () => {
        const names = [];
        let pages = 0;
        let _continue;
        do {
            const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'list=paged', limit: 3, _continue });
            names.push(...page.items.map((item) => item.metadata.name));
            _continue = page.metadata._continue;
            pages++;
        } while (_continue);
        assert.equal(pages, 3);
        assert.deepEqual(names, [0, 1, 2, 3, 4, 5, 6].map((i) => `page-${i}`));
    });

    it('are selected by labels and by fields', async () => {
        const odd = await core.listNamespacedConfigMap({ namespace, labelSelector: 'list=paged,odd=true' });
        assert.equal(odd.items.length, 3);
        const one = await core.listConfigMapForAllNamespaces({ fieldSelector: `metadata.namespace=${namespace},metadata.name=page-4` });
        assert.deepEqual(one.items.map((item) => item.metadata.name), ['page-4']);
    });

    it('delete the selected objects', async () => {
        await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'list=paged,odd=true' });
        const left = await core.listNamespacedConfigMap({ namespace, labelSelector: 'list=paged' });
        assert.equal(left.items.length, 4);
    });
});

describe('watches', () => {
    it('deliver added, modified and deleted events', async () => {
        const seen = [];
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        const { metadata } = await core.listNamespacedConfigMap({ namespace });
        const ended = new Promise((resolve) => {
            new k8s.Watch(config)
                .watch(
                    path,
                    { resourceVersion: metadata.resourceVersion, fieldSelector: 'metadata.name=watched' },
                    (type, object) => seen.push(`${type} ${object.metadata.name}`),
                    resolve,
                )
                .then(async (controller) => {
                    await core.createNamespacedConfigMap(configMap('watched'));
                    const body = { data: { key: 'changed' } };
                    await core.patchNamespacedConfigMap({ name: 'watched', namespace, body }, patchAs(k8s.PatchStrategy.MergePatch));
                    await core.deleteNamespacedConfigMap({ name: 'watched', namespace });
                    await eventually(() => seen.length === 3, `three events, not ${seen}`).finally(() => controller.abort());
                });
        });
        await ended;
        assert.deepEqual(seen, ['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
    });

    it('fill an informer with the existing objects', async () => {
        const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: 'informed=yes' });
        await core.createNamespacedConfigMap(configMap('informed-0', {}, { informed: 'yes' }));
        const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, 'informed=yes');
        const added = [];
        const gone = [];
        informer.on('add', (object) => added.push(object.metadata.name));
        informer.on('delete', (object) => gone.push(object.metadata.name));
        await informer.start();
        try {
            await core.createNamespacedConfigMap(configMap('informed-1', {}, { informed: 'yes' }));
            await eventually(() => added.includes('informed-0') && added.includes('informed-1'), 'both are added');
            await core.deleteNamespacedConfigMap({ name: 'informed-0', namespace });
            await eventually(() => gone.includes('informed-0'), 'one is gone');
            assert.deepEqual(informer.list(namespace).map((object) => object.metadata.name), ['informed-1']);
        } finally {
            await informer.stop();
        }
    });

    it('from a future version time out with the API\'s message', async () => {
        const error = await failure(core.listNamespacedConfigMap({ namespace, resourceVersion: '999999999', resourceVersionMatch: 'Exact' }));
        assert.equal(error.code, 504);
        assert.match(statusOf(error).message, /Too large resource version/);
    });
});

describe('custom objects', () => {
    const group = `js-${process.pid}.example.com`;
    const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
    const custom = config.makeApiClient(k8s.CustomObjectsApi);
    const where = { group, version: 'v1', namespace, plural: 'probes' };

    /** A probe, as a request to create it. */
    function probe(name, spec) {
        return { ...where, body: { apiVersion: `${group}/v1`, kind: 'Probe', metadata: { name }, spec } };
    }

    before(async () => {
        const openAPIV3Schema = {
            type: 'object',
            properties: {
                spec: {
                    type: 'object',
                    required: ['range'],
                    properties: { range: { type: 'integer', maximum: 100 }, unit: { type: 'string', _default: 'm' } },
                },
                status: { type: 'object', x_kubernetes_preserve_unknown_fields: true },
            },
        };
        const version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } };
        const names = { plural: 'probes', kind: 'Probe' };
        const spec = { group, scope: 'Namespaced', names, versions: [version] };
        await definitions.createCustomResourceDefinition({ body: { metadata: { name: `probes.${group}` }, spec } });
        const established = async () => {
            const { status } = await definitions.readCustomResourceDefinition({ name: `probes.${group}` });
            return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
        };
        for (const deadline = Date.now() + 90_000; !(await established()); ) {
            assert.ok(Date.now() < deadline, 'the definition is established within 20 seconds');
        }
    });

    after(async () => {
        await definitions.deleteCustomResourceDefinition({ name: `probes.${group}` });
    });

    it('are created with their defaults and read back', async () => {
        const made = await custom.createNamespacedCustomObject(probe('made', { range: 5 }));
        assert.deepEqual(made.spec, { range: 5, unit: 'm' });
        assert.deepEqual(await custom.getNamespacedCustomObject({ ...where, name: 'made' }), made);
    });

    it('are patched with merge patch and JSON Patch, not with strategic merge patch', async () => {
        await custom.createNamespacedCustomObject(probe('patched', { range: 5 }));
        const target = { ...where, name: 'patched' };
        const merged = await custom.patchNamespacedCustomObject({ ...target, body: { spec: { unit: 'km' } } }, patchAs(k8s.PatchStrategy.MergePatch));
        assert.deepEqual(merged.spec, { range: 5, unit: 'km' });
        const body = [{ op: 'replace', path: '/spec/range', value: 7 }];
        const placed = await custom.patchNamespacedCustomObject({ ...target, body }, patchAs(k8s.PatchStrategy.JsonPatch));
        assert.deepEqual([placed.spec.range, placed.metadata.generation], [7, 3]);
        const refused = await failure(
            custom.patchNamespacedCustomObject({ ...target, body: {} }, patchAs(k8s.PatchStrategy.StrategicMergePatch)),
        );
        assert.equal(refused.code, 415);
    });

    it('are applied, and their status by another manager', async () => {
        const applied = patchAs(k8s.PatchStrategy.ServerSideApply);
        const target = { ...where, name: 'applied' };
        const body = { apiVersion: `${group}/v1`, kind: 'Probe', metadata: { name: 'applied' } };
        const made = await custom.patchNamespacedCustomObject({ ...target, fieldManager: 'one', body: { ...body, spec: { range: 5 } } }, applied);
        assert.deepEqual(made.spec, { range: 5, unit: 'm' });
        assert.deepEqual(made.metadata.managedFields[0].fieldsV1, { 'f:spec': { 'f:range': {} } });
        const status = { ...target, fieldManager: 'two', body: { ...body, status: { ready: true } } };
        const now = await custom.patchNamespacedCustomObjectStatus(status, applied);
        assert.deepEqual([now.status, now.spec], [{ ready: true }, made.spec]);
        assert.deepEqual(
            now.metadata.managedFields.map(({ manager, operation, subresource }) => [manager, operation, subresource]),
            [['one', 'Apply', undefined], ['two', 'Apply', 'status']],
        );
        const error = await failure(
            custom.patchNamespacedCustomObject({ ...target, fieldManager: 'one', body: { ...body, spec: { range: 101 } } }, applied),
        );
        assert.equal(error.code, 422);
        assert.equal(statusOf(error).details.causes[0].field, 'spec.range');
    });

    it('have a status subresource', async () => {
        const made = await custom.createNamespacedCustomObject(probe('status', { range: 5 }));
        const body = { ...made, spec: { range: 6 }, status: { seen: [1, null, { any: 'thing' }] } };
        const now = await custom.replaceNamespacedCustomObjectStatus({ ...where, name: 'status', body });
        assert.deepEqual([now.status, now.spec.range, now.metadata.generation], [body.status, 5, 1]);
    });

    it('are refused with the invalid field', async () => {
        const error = await failure(custom.createNamespacedCustomObject(probe('far', { range: 101 })));
        assert.equal(error.code, 422);
        assert.equal(statusOf(error).details.causes[0].field, 'spec.range');
    });

    it('are watched', async () => {
        const seen = [];
        const { metadata } = await custom.listNamespacedCustomObject(where);
        const controller = await new k8s.Watch(config).watch(
            `/apis/${group}/v1/namespaces/${namespace}/probes`,
            { resourceVersion: metadata.resourceVersion, fieldSelector: 'metadata.name=watched' },
            (type, object) => seen.push(`${type} ${object.spec.range}`),
            () => {},
        );
        await custom.createNamespacedCustomObject(probe('watched', { range: 5 }));
        await custom.deleteNamespacedCustomObject({ ...where, name: 'watched' });
        await eventually(() => seen.length === 2, `two events, not ${seen}`).finally(() => controller.abort());
        assert.deepEqual(seen, ['ADDED 5', 'DELETED 5']);
    });
});

describe('server-side apply', () => {
    const where = (name) => ({ name, namespace });
    const manifest = (name, data) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data });
    const apply = (name, fieldManager, data, more = {}) =>
        core.patchNamespacedConfigMap(
            { ...where(name), fieldManager, body: manifest(name, data), ...more },
            patchAs(k8s.PatchStrategy.ServerSideApply),
        );
    const entries = (object) => object.metadata.managedFields.map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 }));

    it('creates, changes and removes fields', async () => {
        const made = await apply('applied', 'one', { a: '1', b: '2' });
        assert.deepEqual(entries(made), [{ manager: 'one', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } }]);
        const now = await apply('applied', 'one', { a: '3' });
        assert.deepEqual(now.data, { a: '3' });
        const again = await apply('applied', 'one', { a: '3' });
        assert.equal(again.metadata.resourceVersion, now.metadata.resourceVersion);
    });

    it('reports the managers of a conflict, and takes the field by force', async () => {
        await apply('contested', 'one', { a: '1' });
        const error = await failure(apply('contested', 'two', { a: '2' }));
        assert.equal(error.code, 409);
        assert.deepEqual(statusOf(error).details.causes, [
            { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
        ]);
        const now = await apply('contested', 'two', { a: '2' }, { force: true });
        assert.deepEqual(entries(now), [{ manager: 'two', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } }]);
    });

    it('keeps the resourceVersion and the time of an entry without a change', async () => {
        const made = await apply('unchanged', 'one', { a: '1' });
        const [{ apiVersion, fieldsType, time }] = made.metadata.managedFields;
        assert.deepEqual([apiVersion, fieldsType, time instanceof Date], ['v1', 'FieldsV1', true]);
        await new Promise((resolve) => setTimeout(resolve, 1100)); // Times have seconds.
        assert.deepEqual(await apply('unchanged', 'one', { a: '1' }), made);
        assert.deepEqual(await core.readNamespacedConfigMap(where('unchanged')), made);
    });

    it('lists a cause for each field of each manager', async () => {
        await apply('crowded', 'one', { a: '1', b: '1' });
        const body = { data: { c: '1' } };
        await core.patchNamespacedConfigMap({ ...where('crowded'), fieldManager: 'two', body }, patchAs(k8s.PatchStrategy.MergePatch));
        const error = await failure(apply('crowded', 'three', { a: '2', b: '1', c: '2' }));
        assert.equal(statusOf(error).reason, 'Conflict');
        assert.deepEqual(statusOf(error).details.causes, [
            { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
            { reason: 'FieldManagerConflict', message: 'conflict with "two" using v1', field: '.data.c' },
        ]);
        const read = await core.readNamespacedConfigMap(where('crowded'));
        assert.deepEqual(read.data, { a: '1', b: '1', c: '1' });
    });

    it('shares a field of equal values, and removes it with its last owner', async () => {
        await apply('shared', 'one', { a: '1' });
        const both = await apply('shared', 'two', { a: '1', b: '2' });
        assert.deepEqual(entries(both), [
            { manager: 'one', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } },
            { manager: 'two', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } },
        ]);
        assert.deepEqual((await apply('shared', 'one', {})).data, { a: '1', b: '2' });
        assert.deepEqual((await apply('shared', 'two', { b: '2' })).data, { b: '2' });
    });

    it('of a status owns its fields, each condition by its type', async () => {
        const labels = { app: 'applied' };
        const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web' }] } };
        const object = (more) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'applied' }, ...more });
        const condition = (type) => object({ status: { conditions: [{ type, status: 'True' }] } });
        const applied = patchAs(k8s.PatchStrategy.ServerSideApply);
        const body = object({ spec: { replicas: 2, selector: { matchLabels: labels }, template } });
        const made = await apps.patchNamespacedDeployment({ ...where('applied'), fieldManager: 'one', body }, applied);
        assert.deepEqual([made.metadata.generation, made.status.conditions], [1, undefined]);
        const set = (fieldManager, type) =>
            apps.patchNamespacedDeploymentStatus({ ...where('applied'), fieldManager, body: condition(type) }, applied);
        await set('first', 'Available');
        const now = await set('second', 'Progressing');
        assert.deepEqual(now.status.conditions.map(({ type }) => type), ['Available', 'Progressing']);
        assert.deepEqual([now.metadata.generation, now.spec.replicas], [1, 2]);
        const owned = (type) => ({ 'f:status': { 'f:conditions': { [`k:{"type":"${type}"}`]: { '.': {}, 'f:status': {}, 'f:type': {} } } } });
        const statuses = now.metadata.managedFields.filter(({ subresource }) => subresource === 'status');
        assert.deepEqual(statuses.map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1]), [
            ['first', 'Apply', owned('Available')], // Sorted by time, then by name.
            ['second', 'Apply', owned('Progressing')],
        ]);
        const ignored = object({ spec: { replicas: 9 }, status: { conditions: [{ type: 'Available', status: 'True' }] } });
        const same = await apps.patchNamespacedDeploymentStatus({ ...where('applied'), fieldManager: 'first', body: ignored }, applied);
        assert.equal(same.spec.replicas, 2);
    });

    it('in a dry run stores nothing', async () => {
        const shown = await apply('dry', 'one', { a: '1' }, { dryRun: 'All' });
        assert.deepEqual(shown.data, { a: '1' });
        assert.equal((await failure(core.readNamespacedConfigMap(where('dry')))).code, 404);
        const made = await apply('dry', 'one', { a: '1' });
        const changed = await apply('dry', 'one', { b: '2' }, { dryRun: 'All' });
        assert.deepEqual(entries(changed), [{ manager: 'one', operation: 'Apply', fieldsV1: { 'f:data': { 'f:b': {} } } }]);
        assert.equal((await failure(apply('dry', 'two', { a: '2' }, { dryRun: 'All' }))).code, 409);
        assert.deepEqual(await core.readNamespacedConfigMap(where('dry')), made);
    });

    it('needs a manager, refuses unknown fields and stale versions', async () => {
        const nameless = await failure(apply('refused', undefined, { a: '1' }));
        assert.equal(nameless.code, 422);
        assert.match(statusOf(nameless).message, /fieldManager: Required value: is required for apply patch/);
        const body = { ...manifest('refused', { a: '1' }), dat: {} };
        const unknown = await failure(apply('refused', 'one', {}, { body }));
        assert.equal(unknown.code, 500);
        assert.match(statusOf(unknown).message, /\.dat: field not declared in schema/);
        const made = await apply('refused', 'one', { a: '1' });
        await apply('refused', 'one', { a: '2' });
        const old = manifest('refused', { a: '3' });
        old.metadata.resourceVersion = made.metadata.resourceVersion;
        const stale = await failure(apply('refused', 'one', {}, { body: old }));
        assert.equal(stale.code, 409);
        assert.match(statusOf(stale).message, /the object has been modified/);
    });

    it('works with the client of any object', async () => {
        const objects = k8s.KubernetesObjectApi.makeApiClient(config);
        const now = await objects.patch(manifest('any', { a: '1' }), undefined, undefined, 'any-manager', true, k8s.PatchStrategy.ServerSideApply);
        assert.deepEqual(entries(now), [{ manager: 'any-manager', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } }]);
    });

    it('of other writes is an Update of the User-Agent', async () => {
        const made = await core.createNamespacedConfigMap(configMap('written'));
        assert.deepEqual(made.metadata.managedFields.map(({ operation }) => operation), ['Update']);
        assert.ok(made.metadata.managedFields[0].time instanceof Date);
    });
});

describe('errors', () => {
    it('are a Status with the name of the absent object', async () => {
        const error = await failure(core.readNamespacedConfigMap({ name: 'nothing', namespace }));
        assert.ok(error instanceof k8s.ApiException);
        assert.deepEqual(statusOf(error), {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Failure',
            message: 'configmaps "nothing" not found',
            reason: 'NotFound',
            details: { name: 'nothing', kind: 'configmaps' },
            code: 404,
        });
    });

    it('report existing objects', async () => {
        await core.createNamespacedConfigMap(configMap('twice'));
        const error = await failure(core.createNamespacedConfigMap(configMap('twice')));
        assert.equal(error.code, 409);
        assert.equal(statusOf(error).reason, 'AlreadyExists');
    });

    it('report a conflict', async () => {
        const made = await core.createNamespacedConfigMap(configMap('raced'));
        await core.replaceNamespacedConfigMap({ name: 'raced', namespace, body: { ...made, data: { by: 'the first' } } });
        const error = await failure(core.replaceNamespacedConfigMap({ name: 'raced', namespace, body: { ...made, data: { by: 'the second' } } }));
        assert.equal(error.code, 409);
        assert.equal(statusOf(error).reason, 'Conflict');
    });

    it('name the invalid fields', async () => {
        const error = await failure(core.createNamespacedConfigMap(configMap('Not A Name')));
        assert.equal(error.code, 422);
        const { reason, details } = statusOf(error);
        assert.equal(reason, 'Invalid');
        assert.equal(details.causes[0].field, 'metadata.name');
    });

    it('report an invalid token', async () => {
        const stranger = new k8s.KubeConfig();
        const { name, server, caData } = config.getCurrentCluster();
        stranger.loadFromOptions({
            clusters: [{ name, server, caData }],
            users: [{ name: 'stranger', token: 'wrong' }],
            contexts: [{ name: 'c', cluster: name, user: 'stranger' }],
            currentContext: 'c',
        });
        const error = await failure(stranger.makeApiClient(k8s.CoreV1Api).listNamespace());
        assert.equal(error.code, 401);
        assert.match(error.message, /Unauthorized/);
    });
});

describe('discovery', () => {
    it('has the version and the resources', async () => {
        const version = await config.makeApiClient(k8s.VersionApi).getCode();
        assert.equal(version.major, '1');
        const resources = await core.getAPIResources();
        assert.ok(resources.resources.some((resource) => resource.name === 'configmaps' && resource.verbs.includes('watch')));
    });
});
