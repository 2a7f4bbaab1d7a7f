-- The request of a grant was sent, or the grant was given up: the host's delay counts from now.
-- KEYS: host
-- ARGV: holder, now
-- Returns nothing.
-- Uses: late_call
redis.call('HSET', KEYS[1], 'sent', string.format('%.6f', not_late(tonumber(ARGV[2]))))
if redis.call('HGET', KEYS[1], 'pending') == ARGV[1] then redis.call('HDEL', KEYS[1], 'pending', 'pending_until') end
redis.call('EXPIRE', KEYS[1], 86400)
