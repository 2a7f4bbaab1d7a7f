-- Take or renew the tick lock.
-- KEYS: lock
-- ARGV: token of the tick, milliseconds
-- Returns 1 when this tick holds the lock, 0 when another tick does.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
