#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plays recorded conversations with an API server and compares its answers with those of kube-apiserver v1.34.1.

    player.py check  --server URL [--token T] [NAME…]    compares; the last line is `N passed, N failed`
    player.py record --server URL [--token T] [NAME…]    writes the answers of the server; for kube-apiserver only

conversations/NAME.http has the requests, in order; conversations/NAME.golden has the answers, one line of JSON per step. Values
that differ from run to run (uids, versions, times) are placeholders in both. Each run uses a namespace and an API group of its own,
so that one server can play a conversation any number of times.

A step begins with `### TITLE`, which is unique in the conversation. Directives follow, then the request line, headers (one name may
have several; the value "none" leaves a header out), an empty line and the body. Lines before the first step are comments and directives that hold for all steps.

    # @set VAR VALUE         before the first step: {{VAR}} stands for VALUE
    # @capture VAR PATH      {{VAR}} is the value at PATH (metadata.uid) of the answer
    # @moved VAR             record whether metadata.resourceVersion differs from {{VAR}}
    # @times                 tell times of managedFields of this second from earlier ones; a @sleep of 1.1 makes that certain
    # @ignore PATH           leave out the value at PATH; * is any key or index
    # @only PATH             compare only the value at PATH (repeatable)
    # @sleep SECONDS         wait first
    # @watch SECONDS         read the stream for so long; the answer is the list of its events
    # @webhook PATH          first change the conversion webhook of the CRD {{crd}} to {{converter PATH}}; `none` is a closed port
    # @retry SECONDS         repeat until the answer equals the recorded one, at most so long; while recording until it is a success

APPLY, MERGE, STRATEGIC and JSONPATCH in a request line mean PATCH with the content type of that patch. {{ns}} is a namespace,
{{group}} an API group, {{hook}} the address of a mutating webhook that the player runs and {{ca}} its CA. The webhook answers with the
JSON patch that the path of its URL contains: {{hook}}/{{patch '[…]'}}. {{converter PATH}} is the URL of a conversion webhook
(tests/e2e/fixtures/converter, which explains the paths) and {{converterca}} its CA. {{keys N TEXT}} in a body is N members
`"TEXT00000":"v"`, {{text N}} is a text of N characters.

managedFields are always compared. Their order depends on the second of each write, so the player checks it by its rule (operation,
time, manager, version, subresource) and compares the entries sorted by name.
"""
import argparse
import atexit
import base64
import http.client
import http.server
import json
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conversations")
CONVERTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e/fixtures/converter")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
VOLATILE = {"uid": "<uid>", "resourceVersion": "<rv>", "creationTimestamp": "<time>", "deletionTimestamp": "<time>",
            "time": "<time>", "continue": "<continue>", "clusterIP": "<ip>"}
PATCHES = {"APPLY": "application/apply-patch+yaml", "MERGE": "application/merge-patch+json",
           "STRATEGIC": "application/strategic-merge-patch+json", "JSONPATCH": "application/json-patch+json"}


# ---- conversations ----

class Step:
    """One request, or the directives before the first one (title is None)."""

    def __init__(self, title):
        self.title = title
        self.directives = []
        self.lines = []

    def all(self, name):
        return [value for key, value in self.directives if key == name]

    def has(self, name):
        return any(key == name for key, _ in self.directives)

    def finish(self):
        """Takes the request line, the headers and the body apart."""
        words = self.lines[0].split(None, 1)
        self.headers = {}
        self.method, self.url = words[0], words[1].strip()
        at = 1
        while at < len(self.lines) and self.lines[at].strip():
            key, value = self.lines[at].split(":", 1)
            before = self.headers.get(key.strip())
            self.headers[key.strip()] = value.strip() if before is None else before + "\n" + value.strip()
            at += 1
        self.body = "\n".join(self.lines[at + 1:]).strip("\n")
        if self.method in PATCHES:
            self.headers.setdefault("Content-Type", PATCHES[self.method])
            self.method = "PATCH"


def parse(path):
    """The preamble and the steps of a conversation."""
    steps = [Step(None)]
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n"):
            step = steps[-1]
            if line.startswith("### "):
                steps.append(Step(line[4:].strip()))
            elif line.startswith("# @") and not step.lines:
                words = line[3:].split(None, 1)
                step.directives.append((words[0], words[1].strip() if len(words) > 1 else ""))
            elif step.title is not None and (step.lines or (line.strip() and not line.startswith("# "))):
                step.lines.append(line)
    titles = [s.title for s in steps]
    twice = {t for t in titles if titles.count(t) > 1}
    if twice:
        raise SystemExit("%s: two steps have the title %s" % (path, sorted(twice)))
    for step in steps[1:]:
        step.directives += [d for d in steps[0].directives if d[0] != "set"]
        step.finish()
    return steps[0], steps[1:]


# ---- answers without what differs from run to run ----

def entry_order(entry):
    """The order of entries of managedFields in an object."""
    return (entry.get("operation", ""), entry.get("time", ""), entry.get("manager", ""), entry.get("apiVersion", ""),
            entry.get("subresource", ""))


def entry_name(entry):
    return [entry.get(k, "") for k in ("manager", "operation", "subresource", "apiVersion")]


class Scrubber:
    """Replaces values that differ from run to run."""

    def __init__(self, texts, since=None):
        self.texts = texts  # (text, placeholder)
        self.since = since  # Times of managedFields before this moment are <before>, others <now>; None: all are <time>.

    def text(self, value, key):
        for text, placeholder in self.texts:
            value = value.replace(text, placeholder)
        value = TIME.sub("<time>", UUID.sub("<uid>", value))
        value = re.sub(r'resourceVersion: "\d+"', 'resourceVersion: "<rv>"', value)
        if key == "message":
            value = re.sub(r'(resourceVersion\\*":\\*")\d+', r"\1<rv>", value)
            value = re.sub(r'(clusterIPs?\\*":\[?\\*")[0-9.]+', r"\1<ip>", value)
            value = re.sub(r"\b\d{4,}\b", "<n>", value)
            value = re.sub(r"(is missing in ').*'", r"\1<text>'", value)
            # Errors of the members of a map come in a random order.
            head, mark, errors = value.partition("errors:\n")
            value = head + mark + "\n".join(sorted(errors.split("\n")))
        if key == "cells" and re.match(r"^\d+s$", value):
            value = "<age>"
        return value

    def managed(self, entries):
        if not all(isinstance(e, dict) for e in entries):
            return self.value(entries)
        out = []
        for entry in entries:
            new = self.value({k: v for k, v in entry.items() if k != "time"})
            if "time" in entry:
                new["time"] = "<time>" if self.since is None else "<before>" if entry["time"] < self.since else "<now>"
            out.append(new)
        if [entry_order(e) for e in entries] != sorted(entry_order(e) for e in entries):
            out.append({"manager": "", "order": "wrong: %s" % [entry_order(e) for e in entries]})
        return sorted(out, key=entry_name)

    def causes(self, causes):
        """kube-apiserver lists conflicts in a random order of managers."""
        if all(isinstance(c, dict) and c.get("reason") == "FieldManagerConflict" for c in causes):
            causes = sorted(causes, key=lambda c: c.get("message", ""))
        return self.value(causes)

    def value(self, value, key=None):
        if isinstance(value, dict):
            return {self.text(k, None): self.member(k, v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(v, key) for v in value]
        return self.text(value, key) if isinstance(value, str) else value

    def member(self, key, value):
        if key == "managedFields" and isinstance(value, list):
            return self.managed(value)
        if key in VOLATILE and isinstance(value, str) and value:
            return VOLATILE[key]
        if key == "nodePort" and isinstance(value, int):
            return "<port>"
        if key == "clusterIPs":
            return ["<ip>"] * len(value)
        if key == "causes" and isinstance(value, list):
            return self.causes(value)
        return self.value(value, key)


def at_path(value, path):
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def drop_path(value, parts):
    """Removes the members at a path; items of a list become <ignored>."""
    if not parts or not isinstance(value, (dict, list)):
        return
    keys = list(value) if isinstance(value, dict) else [str(i) for i in range(len(value))]
    for key in keys if parts[0] == "*" else [k for k in keys if k == parts[0]]:
        index = int(key) if isinstance(value, list) else key
        if len(parts) > 1:
            drop_path(value[index], parts[1:])
        elif isinstance(value, dict):
            del value[index]
        else:
            value[index] = "<ignored>"


def pick_paths(body, paths):
    out = {}
    for path in paths:
        try:
            out[path] = at_path(body, path)
        except (KeyError, IndexError, TypeError, ValueError):
            out[path] = "<absent>"
    return out


# ---- webhooks ----

class Hook:
    """An HTTPS server that answers an AdmissionReview with the JSON patch in the path of the request."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        key, crt = os.path.join(self.directory.name, "key"), os.path.join(self.directory.name, "crt")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-keyout", key, "-out", crt, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook.Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(crt, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = "https://127.0.0.1:%d" % self.server.server_address[1]
        with open(crt, "rb") as f:
            self.ca = base64.b64encode(f.read()).decode()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            patch = self.path.split("?")[0].strip("/")
            answer = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch",
                      "patch": base64.b64encode(base64.urlsafe_b64decode(patch)).decode()}
            body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass


class Converter:
    """A conversion webhook in a process of its own, until the player ends."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        process = subprocess.Popen([CONVERTER, self.directory.name])
        atexit.register(process.terminate)
        while not os.path.exists(os.path.join(self.directory.name, "port")):
            if process.poll() is not None:
                raise SystemExit("%s ended with exit code %d" % (CONVERTER, process.returncode))
            time.sleep(0.05)
        self.address = "https://127.0.0.1:" + self.read("port")
        self.ca = self.read("ca")

    def read(self, name):
        with open(os.path.join(self.directory.name, name), encoding="utf-8") as f:
            return f.read()


# ---- playing ----

class Player:
    """Plays one conversation."""

    hook = converter = None

    def __init__(self, server, token, preamble):
        url = urllib.parse.urlparse(server)
        self.tls = url.scheme == "https"
        self.address = (url.hostname, url.port or (443 if self.tls else 80))
        self.context = ssl._create_unverified_context() if self.tls else None
        self.token = token
        self.path = None  # Of the conversion webhook, once a step has set it.
        mark = "".join(random.choice("bcdfghjklmnpqrstvwxz") for _ in range(6))
        self.vars = {"ns": "play-" + mark, "group": mark + ".example.com"}
        self.texts = [("play-" + mark, "<ns>"), (mark + ".example.com", "<group>")]
        for value in preamble.all("set"):
            name, text = value.split(None, 1)
            self.vars[name] = self.fill(text)

    def converter_url(self, path):
        if not Player.converter:
            Player.converter = Converter()
        self.texts += [(Player.converter.ca, "<converterca>"), (Player.converter.address, "<converter>")]
        return "https://127.0.0.1:1/" if path == "none" else Player.converter.address + path

    def macro(self, match):
        name, _, rest = match.group(1).partition(" ")
        if name == "keys":
            count, text = rest.split()
            return ",".join('"%s%05d":"v"' % (text, i) for i in range(int(count)))
        if name == "text":
            return "x" * int(rest)
        if name == "patch":
            return base64.urlsafe_b64encode(self.fill(rest.strip("'")).encode()).decode()
        if name in ("hook", "ca"):
            Player.hook = Player.hook or Hook()
            self.texts += [(Player.hook.ca, "<ca>"), (Player.hook.address, "<hook>")]
            return getattr(Player.hook, {"hook": "address", "ca": "ca"}[name])
        if name in ("converter", "converterca"):
            url = self.converter_url(rest)
            return url if name == "converter" else Player.converter.ca
        if name not in self.vars:
            raise SystemExit("{{%s}} has no value" % name)
        return str(self.vars[name])

    def fill(self, text):
        return re.sub(r"\{\{(?!\{)((?:[^{}]|\{[^{}]|\}[^{}])*?)\}\}", self.macro, text)

    def connect(self):
        kind = http.client.HTTPSConnection if self.tls else http.client.HTTPConnection
        more = {"context": self.context} if self.tls else {}
        return kind(*self.address, timeout=60, **more)

    def send(self, step):
        connection = self.connect()
        headers = {"Accept": "application/json", "User-Agent": "player/1.0"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        body = self.fill(step.body)
        if body:
            headers["Content-Type"] = "application/json"
        headers.update({k: self.fill(v) for k, v in step.headers.items()})
        url = urllib.parse.quote(self.fill(step.url), safe="/?&=%,:;+!()'*~@")
        connection.putrequest(step.method, url)
        for name, values in headers.items():
            for value in values.split("\n") if values != "none" else []:
                connection.putheader(name, value.encode("utf-8"))
        if body:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders(body.encode() if body else None)
        response = connection.getresponse()
        watch = float((step.all("watch") or ["0"])[0])
        data = read_for(connection, response, watch) if watch and response.status == 200 else response.read()
        connection.close()
        return response.status, response.getheaders(), data.decode("utf-8", "replace")

    def answer(self, step):
        """What is compared, and the parsed body."""
        start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        try:
            status, headers, text = self.send(step)
        except (OSError, http.client.HTTPException) as e:
            return {"status": 0, "body": "<no answer: %s>" % e}, None
        scrubber = Scrubber(self.texts, start if step.has("times") else None)
        out = {"status": status}
        warnings = [scrubber.text(v, None) for k, v in headers if k.lower() == "warning"]
        if warnings:
            out["warnings"] = warnings
        raw = parse_body(text)
        body = scrubber.value(raw if raw is not None else text, None)
        for path in step.all("ignore"):
            drop_path(body, path.split("."))
        out["body"] = pick_paths(body, step.all("only")) if step.has("only") and status < 300 else body
        for name in step.all("moved"):
            version = pick_paths(raw, ["metadata.resourceVersion"])["metadata.resourceVersion"]
            out["moved"] = version != self.vars[name]
        return out, raw

    def use_webhook(self, path, wait):
        """Changes the conversion webhook; kube-apiserver takes a moment to serve the change."""
        if path == self.path:
            return
        self.path = path
        step = Step("")
        step.method, step.url = "PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{{crd}}"
        step.headers = {"Content-Type": PATCHES["MERGE"]}
        config = {"url": self.converter_url(path), "caBundle": Player.converter.ca}
        step.body = json.dumps({"spec": {"conversion": {"webhook": {"clientConfig": config}}}})
        answer, _ = self.answer(step)
        if answer["status"] != 200:
            raise SystemExit("the conversion webhook cannot be changed: %s" % answer)
        time.sleep(2.5 if self.tls else wait)

    def run(self, step, golden):
        for seconds in step.all("sleep"):
            time.sleep(float(seconds))
        # A server takes a changed webhook in the background. A read is repeated; a write needs time enough on a busy machine.
        reads = step.method == "GET"
        for path in step.all("webhook"):
            self.use_webhook(path, 0.3 if reads else 1)
        until = time.time() + float((step.all("retry") or ["10" if step.has("webhook") and reads else "0"])[0])
        while True:
            out, raw = self.answer(step)
            fine = out["status"] // 100 == 2 if golden is None else not differences(golden, out)
            if fine or time.time() >= until:
                break
            time.sleep(0.1)
        for value in step.all("capture"):
            name, path = value.split(None, 1)
            self.vars[name] = pick_paths(raw, [path])[path]
        return out


def read_for(connection, response, seconds):
    """What a stream delivers in so many seconds."""
    end, data = time.time() + seconds, b""
    try:
        while time.time() < end:
            connection.sock and connection.sock.settimeout(max(end - time.time(), 0.01))
            line = response.readline()
            if not line:
                return data + b'{"type":"END"}\n'
            data += line
    except OSError:  # A timeout, too.
        pass
    return data


def parse_body(text):
    """The JSON of an answer, a list of events of a watch, or None."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()] or None
    except ValueError:
        return None


def shorten(value):
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) < 400 else text[:400] + "…"


def differences(want, got, path=""):
    """One line for each value that differs."""
    if isinstance(want, dict) and isinstance(got, dict):
        out = []
        for key in sorted(set(want) | set(got)):
            if key not in got:
                out.append("%s.%s: missing, want %s" % (path, key, shorten(want[key])))
            elif key not in want:
                out.append("%s.%s: unexpected, got %s" % (path, key, shorten(got[key])))
            else:
                out += differences(want[key], got[key], path + "." + key)
        return out
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return ["%s: got %s, want %s" % (path, shorten(got), shorten(want))]
        return [line for i, (a, b) in enumerate(zip(want, got)) for line in differences(a, b, "%s[%d]" % (path, i))]
    if want == got and type(want) is type(got):
        return []
    return ["%s: got %s, want %s" % (path, shorten(got), shorten(want))]


def load_golden(path):
    with open(path, encoding="utf-8") as f:
        return {line["step"]: line["answer"] for line in map(json.loads, f)}


def record(arguments, name):
    preamble, steps = parse(os.path.join(arguments.dir, name + ".http"))
    player = Player(arguments.server, arguments.token, preamble)
    lines = []
    for step in steps:
        answer = player.run(step, None)
        lines.append(json.dumps({"step": step.title, "answer": answer}, ensure_ascii=False, sort_keys=True))
        print("%-24s %3d %s" % (name, answer["status"], step.title))
    with open(os.path.join(arguments.dir, name + ".golden"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def check(arguments, name):
    """Returns how many steps passed and failed."""
    preamble, steps = parse(os.path.join(arguments.dir, name + ".http"))
    golden = load_golden(os.path.join(arguments.dir, name + ".golden"))
    player = Player(arguments.server, arguments.token, preamble)
    failed = 0
    for step in steps:
        want = golden.get(step.title, {"status": "no answer is recorded"})
        lines = differences(want, player.run(step, want))
        if lines:
            failed += 1
            print("FAIL %s: %s" % (name, step.title))
            for line in lines[:arguments.lines]:
                print("     " + line.lstrip("."))
    print("%-24s %d of %d" % (name, len(steps) - failed, len(steps)), flush=True)
    return len(steps) - failed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "record"])
    parser.add_argument("--server", required=True)
    parser.add_argument("--token", default="admintoken", help="empty: none")
    parser.add_argument("--dir", default=HERE, help="directory of the conversations")
    parser.add_argument("--lines", type=int, default=8, help="differences to print for each step")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    names = arguments.names or sorted(f[:-5] for f in os.listdir(arguments.dir) if f.endswith(".http"))
    if arguments.mode == "record":
        for name in names:
            record(arguments, name)
        return 0
    sums = [check(arguments, name) for name in names]
    print("%d passed, %d failed" % (sum(s[0] for s in sums), sum(s[1] for s in sums)))
    return 1 if any(s[1] for s in sums) else 0


if __name__ == "__main__":
    sys.exit(main())
