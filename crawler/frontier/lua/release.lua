-- End a tick: give the lock back, but only if nobody asked for another tick meanwhile.
-- KEYS: lock, mark
-- ARGV: token of the tick
-- Answers 1 when released, 0 when the mark is set (the lock is kept), 2 when the lock was not ours any more.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 2 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('DEL', KEYS[1])
return 1
