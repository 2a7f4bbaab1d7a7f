-- Counts one call within a fixed time window.
-- KEYS: 1 the counter
-- ARGV: 1 milliseconds of the window
-- Returns: calls within this window, including this one; milliseconds left of it
local calls = redis.call("INCR", KEYS[1])
local left = redis.call("PTTL", KEYS[1])
if left < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { calls, left }
