-- Release the tick lock regardless of the mark (a tick that failed, or that hands over to a new one).
-- KEYS: lock
-- ARGV: token of the tick
-- Returns 1 when released, 0 when another tick holds the lock.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
