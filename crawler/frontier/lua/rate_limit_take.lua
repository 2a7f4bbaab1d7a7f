-- Counts one attempt against several limits at once, unless one of them is reached.
-- KEYS: the counters
-- ARGV: 1 milliseconds a counter lives, from its first attempt on; 2... the limit of each counter
-- Returns: milliseconds until there is capacity (0 = the attempt is counted); the counters' values
local wait = 0
for i, key in ipairs(KEYS) do
  local made = tonumber(redis.call("GET", key) or "0")
  if made >= tonumber(ARGV[i + 1]) then
    local left = redis.call("PTTL", key)
    if left < 0 then
      redis.call("PEXPIRE", key, ARGV[1])
      left = tonumber(ARGV[1])
    end
    wait = math.max(wait, left)
  end
end
local counts = { wait }
for i, key in ipairs(KEYS) do
  local made
  if wait > 0 then
    made = tonumber(redis.call("GET", key) or "0")
  else
    made = redis.call("INCR", key)
    if redis.call("PTTL", key) < 0 then
      redis.call("PEXPIRE", key, ARGV[1])
    end
  end
  counts[i + 1] = made
end
return counts
