-- Move a job that waits to the end of its queue.
-- KEYS: queue
-- ARGV: job
-- Answers 1 when it waited there, 0 when it does not (any more).
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1])
return 1
