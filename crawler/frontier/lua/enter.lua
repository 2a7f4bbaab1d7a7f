-- Take, or renew, one of a host's connections. Of several crawls of one host the strictest wish counts.
-- KEYS: slots of the host, its wishes, the host
-- ARGV: holder, crawl, now, epoch seconds when the slot runs out unless renewed, delay, connections at a time,
--       seconds within which a holder that keeps no delay hears of a new one
-- Answers 1 when the holder has a slot, 0 when all are in use.
-- Uses: wish
local slots, wishes, host = KEYS[1], KEYS[2], KEYS[3]
local holder, crawl, now, until_then = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
local _, fewest, is_longer = wish(wishes, crawl, tonumber(ARGV[5]), tonumber(ARGV[6]), now, until_then - now)
local at_work = redis.call('ZCARD', slots)
if is_longer and at_work > 0 then announce(host, now + tonumber(ARGV[7])) end
if not redis.call('ZSCORE', slots, holder) and at_work >= fewest then return 0 end
redis.call('ZADD', slots, ARGV[4], holder)
redis.call('EXPIRE', slots, math.ceil(until_then - now) + 1)
return 1
