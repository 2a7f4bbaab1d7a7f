-- A user ended a host's waits: the waiting pages of the lane are due now, and the lane may be handed out.
-- KEYS: hosts, known_hosts, queue of the lane, active, rest, taken, pace, weights, waiting
-- ARGV: lane, default slices at once, default pages a slice, now
-- Returns 1 when something had to wait, else 0.
-- Uses: rescore
-- Uses: pace
local queue, active, rest, pace, lane, now = KEYS[3], KEYS[4], KEYS[5], KEYS[7], ARGV[1], ARGV[4]
local rested = tonumber(redis.call('HGET', rest, lane) or '0')
local later = redis.call('ZRANGEBYSCORE', queue, '(' .. now, '+inf')
if rested <= tonumber(now) and #later == 0 then return 0 end
redis.call('HDEL', rest, lane)
for _, member in ipairs(later) do redis.call('ZADD', queue, now, member) end
local at_once, pages = pace_of(pace, lane, ARGV[2], ARGV[3])
local keys = {hosts = KEYS[1], known = KEYS[2], queue = queue, rest = rest, pace = pace, weights = KEYS[8]}
rescore(keys, lane, tonumber(redis.call('HGET', active, lane) or '0'), at_once, pages)
return 1
