-- A tick at work keeps its lock for a while longer.
-- KEYS: lock
-- ARGV: token of the tick, milliseconds
-- Answers 1 when the lock is (still, or again) ours, 0 when another tick has it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
