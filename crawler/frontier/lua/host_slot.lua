-- Take, or renew, one of a host's slots (connections). Of several crawls of one host the strictest policy counts, and the
-- throttle's limit. A crawl that is new to a host that is slowed down tries it once without that delay; if none of the
-- host's slots is in use, the throttle is reset.
-- KEYS: slots of the host, its policies, the host, hosts whose throttle the crawl knows
-- ARGV: holder, crawl, now, epoch seconds when the slot expires unless renewed, delay, maximum of connections,
--       seconds after which a holder without a delay checks for a new policy, name of the host, seconds a key is kept,
--       1 = the throttle counts, its limit for a host of which nothing is known, seconds after which it is forgotten, its
--       fields ...
-- The host keeps when a slot was last wanted in vain.
-- Returns 2 when the holder has a slot and may try once without the throttle, 1 when it has a slot, 0 when all are
-- in use.
-- Uses: host_policy
-- Uses: late_call
local slots, policies, host, met = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, crawl, now = ARGV[1], ARGV[2], not_late(tonumber(ARGV[3]))
local until_then = tonumber(ARGV[4]) + now - tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
redis.call('ZREMRANGEBYSCORE', slots, 2 * until_then - now, '+inf')  -- taken before Redis's clock was set back
local _, fewest, is_longer = strictest_policy(policies, crawl, tonumber(ARGV[5]), tonumber(ARGV[6]), now, until_then - now)
local at_work = redis.call('ZCARD', slots)
local known = redis.call('HMGET', host, 'limit', 'delay', 'delay_at')
local is_known = known[1] and now - tonumber(known[3]) <= tonumber(ARGV[12])
local limit = tonumber(is_known and known[1] or ARGV[11])
if ARGV[10] == '1' and is_known then fewest = math.min(fewest, limit) end
if is_longer and at_work > 0 then announce(host, now + tonumber(ARGV[7])) end
if not redis.call('ZSCORE', slots, holder) and at_work >= fewest then
  redis.call('HSET', host, 'wanted', string.format('%.6f', now))
  redis.call('EXPIRE', host, ARGV[9])
  return 0
end
redis.call('ZADD', slots, string.format('%.6f', until_then), holder)
redis.call('EXPIRE', slots, math.ceil(until_then - now) + 1)
local is_slowed = tonumber(known[2] or '0') > 0 or limit < tonumber(ARGV[11])
if not is_slowed or redis.call('SADD', met, ARGV[8]) == 0 then return 1 end
redis.call('EXPIRE', met, ARGV[9])
if at_work == 0 then redis.call('HDEL', host, unpack(ARGV, 13)) end
return 2
