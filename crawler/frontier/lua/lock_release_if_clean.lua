-- End a tick: release the lock only if no other tick was requested meanwhile.
-- KEYS: lock, mark
-- ARGV: token of the tick
-- Returns 1 when released, 0 when the mark is set (the lock is kept), 2 when this tick no longer held the lock.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 2 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('DEL', KEYS[1])
return 1
