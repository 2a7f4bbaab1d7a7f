-- Counts one attempt against several limits at once, unless one of them is reached.
-- KEYS: the counters
-- ARGV: 1 milliseconds of the window, which begins with a counter's first attempt; 2... the limit of each counter
-- Returns: milliseconds until there is capacity (0 = the attempt is counted); milliseconds until the last window ends;
--          the counters' values
local function left_of(key)
  local left = redis.call("PTTL", key)
  if left < 0 then
    redis.call("PEXPIRE", key, ARGV[1])
    left = tonumber(ARGV[1])
  end
  return left
end

local wait = 0
for i, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") >= tonumber(ARGV[i + 1]) then
    wait = math.max(wait, left_of(key))
  end
end
local result = { wait, 0 }
for i, key in ipairs(KEYS) do
  result[i + 2] = wait > 0 and tonumber(redis.call("GET", key) or "0") or redis.call("INCR", key)
  result[2] = math.max(result[2], left_of(key))
end
return result
