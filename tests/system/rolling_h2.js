// SPDX-License-Identifier: Apache-2.0
// rolling_h2.js PORT TOKEN NAMESPACE: the client of rolling.py over HTTP/2. It never retries a request; after a GOAWAY it uses another
// connection for the next one, also for one that was handed to the library just before the GOAWAY arrived and was not sent ('frameError'). Works until a line arrives on stdin, then prints what it did, as JSON.
'use strict';
const http2 = require('http2');
const readline = require('readline');

const [port, token, ns] = process.argv.slice(2);
const path = `/api/v1/namespaces/${ns}/configmaps`;
const result = {requests: 0, unsent: 0, sessions: 0, watches: 0, failures: [], written: [], seen: []};
let stopped = false;
let current = null;

const fail = (what) => result.failures.push(`${(performance.now() / 1000).toFixed(3)} ${what}`);

// The connection for the next request.
function session() {
    if (current) return current;
    const made = current = http2.connect(`http://127.0.0.1:${port}`);
    const forget = () => { if (current === made) current = null; };
    result.sessions++;
    made.on('goaway', forget);
    made.on('close', forget);
    made.on('error', (e) => { fail(`connection: ${e.message}`); forget(); });
    return made;
}

function open(method, target) {
    const headers = {':method': method, ':path': target, authorization: `Bearer ${token}`, accept: 'application/json'};
    if (method !== 'GET') headers['content-type'] = 'application/json';
    return session().request(headers, {endStream: method === 'GET'});
}

function request(method, target, body, expected = 200) {
    return new Promise((resolve) => {
        const stream = open(method, target);
        let status = 0, text = '', unsent = false;
        stream.on('frameError', () => { unsent = true; });
        stream.setEncoding('utf8');
        stream.on('response', (head) => { status = head[':status']; });
        stream.on('data', (part) => { text += part; });
        stream.on('error', (e) => {
            if (unsent) {
                result.unsent++;
                return resolve(request(method, target, body, expected));
            }
            fail(`${method} ${target}: ${e.message}`);
            resolve(null);
        });
        stream.on('end', () => {
            if (unsent) return;
            result.requests++;
            if (status === expected) return resolve(JSON.parse(text));
            fail(`${method} ${target}: ${status} ${text.slice(0, 300)}`);
            resolve(null);
        });
        if (body) stream.end(JSON.stringify(body));
    });
}

const configmap = (name, value, version) => ({
    kind: 'ConfigMap', apiVersion: 'v1', metadata: {namespace: ns, name, resourceVersion: version}, data: {value},
});
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const wrote = (item) => result.written.push(Number(item.metadata.resourceVersion));

async function work(number) {
    for (let i = 0; !stopped; i++) {
        const name = `h2-${number}-${i}`;
        const made = await request('POST', path, configmap(name, '1'), 201);
        if (made) {
            wrote(made);
            await request('GET', `${path}/${name}`);
            const changed = await request('PUT', `${path}/${name}`, configmap(name, '2', made.metadata.resourceVersion));
            if (changed) wrote(changed);
        }
        await request('GET', `${path}?limit=5`);
        await pause(2);
    }
}

// One watch, until the server ends it; returns the last resource version.
function watchOnce(since) {
    return new Promise((resolve) => {
        const stream = open('GET', `${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${since}`);
        let rest = '';
        result.watches++;
        watching = stream;
        stream.setEncoding('utf8');
        stream.on('response', (head) => { if (head[':status'] !== 200) fail(`watch: ${head[':status']}`); });
        stream.on('data', (part) => {
            const lines = (rest + part).split('\n');
            rest = lines.pop();
            for (const line of lines) {
                const event = JSON.parse(line);
                if (event.type === 'ERROR') { fail(`watch from ${since}: ${line}`); continue; }
                since = event.object.metadata.resourceVersion;
                if (event.type !== 'BOOKMARK') result.seen.push(Number(since));
            }
        });
        stream.on('error', (e) => { fail(`watch: ${e.message}`); resolve(since); });
        stream.on('end', () => { if (rest) fail('watch: an event was cut off'); resolve(since); });
    });
}

let watching = null;
let done = false;

async function watch(since) {
    while (!done) since = await watchOnce(since);
}

async function main() {
    const listed = await request('GET', path);
    const watched = watch(listed.metadata.resourceVersion);
    const workers = [0, 1, 2, 3].map(work);
    const lines = readline.createInterface({input: process.stdin});
    await new Promise((resolve) => lines.once('line', resolve));
    stopped = true;
    await Promise.all(workers);
    const last = Math.max(...result.written);
    for (let i = 0; i < 300 && result.seen[result.seen.length - 1] !== last; i++) await pause(100);
    done = true;
    watching.close();
    await watched;
    process.stdout.write(JSON.stringify(result), () => process.exit(0));
}

main();
