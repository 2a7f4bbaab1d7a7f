-- Take, or renew, one of a host's connections.
-- KEYS: slots of the host
-- ARGV: holder, now, epoch seconds when the slot runs out unless renewed, connections at a time
-- Answers 1 when the holder has a slot, 0 when all are in use.
local slots, holder, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
if not redis.call('ZSCORE', slots, holder) and redis.call('ZCARD', slots) >= tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', slots, ARGV[3], holder)
redis.call('EXPIRE', slots, math.ceil(tonumber(ARGV[3]) - now) + 1)
return 1
