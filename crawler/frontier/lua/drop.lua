-- Give the lock back whatever the mark says (a tick that failed, or one that hands over to a fresh one).
-- KEYS: lock
-- ARGV: token of the tick
-- Answers 1 when released, 0 when it was not ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
