-- Counts one call of somebody within a window of time.
-- KEYS: 1 the count
-- ARGV: 1 milliseconds a window lasts
-- Answers: calls within this window, this one among them; milliseconds left of it
local calls = redis.call("INCR", KEYS[1])
local left = redis.call("PTTL", KEYS[1])
if left < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { calls, left }
