-- SPDX-License-Identifier: MIT
-- What a fork may have broken: files, randomness, memory.
local f = assert(io.open(arg[0]))
assert(f:seek("end"))
f:close()
assert(#arg == 0 and select("#", ...) == 0)
local co = coroutine.wrap(function(x) coroutine.yield(x + 1) end)
assert(co(1) == 2)
assert(math.random() ~= math.random())
assert(not os.getenv("LUA_INIT"))
collectgarbage()
print("ok")
