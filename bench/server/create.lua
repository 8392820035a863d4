-- SPDX-License-Identifier: Apache-2.0
-- Creates objects with names that never come twice: PREFIX of the run, number of the thread, number of the request.
--   wrk … -s create.lua URL -- PREFIX configmap BYTES_OF_DATA
--   wrk … -s create.lua URL -- PREFIX workload            an object of workload.json, of about 2 KB
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

-- Each stage lacks two fields that have defaults, the spec three; it has one that is pruned (colour).
local function stage(i)
    return string.format('{"name":"stage-%d","command":["/usr/bin/worker","--queue=queue-%d","--level=%d"],"weight":%d.5,"port":%d}',
        i, i, i, i, 8000 + i)
end

local function workload(name)
    local stages = {}
    for i = 1, 12 do
        stages[i] = stage(i)
    end
    return '{"apiVersion":"bench.example.com/v1","kind":"Workload","metadata":{"name":"' .. name,
        '","labels":{"app":"bench","tier":"back"}},"spec":{"image":"registry.example.com/team/worker:1.24.3","replicas":3,"colour":"blue",' ..
        '"labels":{"zone":"west","owner":"somebody","cost-center":"4711"},"notes":"' .. string.rep("n", 500) .. '","stages":[' ..
        table.concat(stages, ",") .. ']}}'
end

function init(args)
    local name = string.format("%s-%d-", args[1], id)
    if args[2] == "configmap" then
        prefix, rest = config_map(name, tonumber(args[3]))
    else
        prefix, rest = workload(name)
    end
    if args[2] == "configmap-of-workload" then
        local bytes = #prefix + #rest
        prefix, rest = config_map(name, 0)
        prefix, rest = config_map(name, bytes - #prefix - #rest)
    end
    count = 0
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    count = count + 1
    return wrk.format("POST", nil, nil, prefix .. count .. rest)
end
