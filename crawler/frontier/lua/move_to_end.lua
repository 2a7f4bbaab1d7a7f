-- Move a queued job to the end of its queue.
-- KEYS: queue
-- ARGV: job
-- Returns 1 when moved, 0 when the job is not in the queue.
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1])
return 1
