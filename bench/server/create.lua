-- SPDX-License-Identifier: Apache-2.0
-- Creates objects with unique names: PREFIX of the run, number of the thread, number of the request.
--   wrk … -s create.lua URL -- PREFIX configmap BYTES_OF_DATA
--   wrk … -s create.lua URL -- PREFIX pod                 a Pod with one container
--   wrk … -s create.lua URL -- PREFIX workload            an object of workload.json, of about 2 KB
--   wrk … -s create.lua URL -- PREFIX ruled-workload      the same of ruled-workload.json, whose schema has 20 CEL rules
--   wrk … -s create.lua URL -- PREFIX configmap-of-workload   a ConfigMap with as many bytes as that has
local threads = 0

function setup(thread)
    thread:set("id", threads)
    threads = threads + 1
end

local function config_map(name, bytes)
    return '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"' .. name,
        '"},"data":{"text":"' .. string.rep("x", bytes) .. '"}}'
end

local function pod(name)
    return '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"' .. name,
        '","labels":{"app":"bench","tier":"back"}},"spec":{"containers":[{"name":"main","image":"registry.example.com/team/worker:1.24.3",' ..
        '"command":["/usr/bin/worker","--queue=jobs"],"ports":[{"containerPort":8080}],"env":[{"name":"LEVEL","value":"info"}],' ..
        '"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"memory":"256Mi"}}}]}}'
end

-- Each stage lacks two fields that have defaults, the spec three; it has one that is pruned (colour).
local function stage(i)
    return string.format('{"name":"stage-%d","command":["/usr/bin/worker","--queue=queue-%d","--level=%d"],"weight":%d.5,"port":%d}',
        i, i, i, i, 8000 + i)
end

local function workload(name, kind)
    local stages = {}
    for i = 1, 12 do
        stages[i] = stage(i)
    end
    return '{"apiVersion":"bench.example.com/v1","kind":"' .. kind .. '","metadata":{"name":"' .. name,
        '","labels":{"app":"bench","tier":"back"}},"spec":{"image":"registry.example.com/team/worker:1.24.3","replicas":3,"colour":"blue",' ..
        '"labels":{"zone":"west","owner":"somebody","cost-center":"4711"},"notes":"' .. string.rep("n", 500) .. '","stages":[' ..
        table.concat(stages, ",") .. ']}}'
end

function init(args)
    local name = string.format("%s-%d-", args[1], id)
    if args[2] == "configmap" then
        prefix, rest = config_map(name, tonumber(args[3]))
    elseif args[2] == "pod" then
        prefix, rest = pod(name)
    else
        prefix, rest = workload(name, args[2] == "ruled-workload" and "RuledWorkload" or "Workload")
    end
    if args[2] == "configmap-of-workload" then
        local bytes = #prefix + #rest
        prefix, rest = config_map(name, 0)
        prefix, rest = config_map(name, bytes - #prefix - #rest)
    end
    count = 0
    wrk.headers["Content-Type"] = "application/json"
    -- Made once: names have one length, so that requests differ in the number only. The load generator must take little.
    local whole = wrk.format("POST", nil, nil, prefix .. "00000000" .. rest)
    local at = whole:find(prefix .. "00000000", 1, true) + #prefix
    before, after = whole:sub(1, at - 1), whole:sub(at + 8)
end

function request()
    count = count + 1
    return before .. string.format("%08d", count) .. after
end
