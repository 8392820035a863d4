-- SPDX-License-Identifier: Apache-2.0
-- Creates ConfigMaps with names that never come twice: PREFIX of the run, number of the thread, number of the request.
--   wrk … -s create.lua URL -- PREFIX BYTES_OF_DATA
local threads = 0

function setup(thread)
    thread:set("id", threads)
    threads = threads + 1
end

function init(args)
    prefix = string.format('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-%d-', args[1], id)
    rest = '"},"data":{"text":"' .. string.rep("x", tonumber(args[2])) .. '"}}'
    count = 0
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    count = count + 1
    return wrk.format("POST", nil, nil, prefix .. count .. rest)
end
