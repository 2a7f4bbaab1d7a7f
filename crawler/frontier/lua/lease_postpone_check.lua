-- Postpone the next check of a batch, noting since when RQ does not know its job. Never makes it sooner: its holder may
-- have renewed it meanwhile.
-- KEYS: leases, lease of the batch
-- ARGV: batch, token, epoch seconds of the next check, epoch seconds since when its job is unknown ('' = it is known)
-- Returns 1, or 0 when the lease is gone or belongs to another token: then nothing is noted.
local leases, lease = KEYS[1], KEYS[2]
if redis.call('HGET', lease, 'token') ~= ARGV[2] then return 0 end
if ARGV[4] == '' then redis.call('HDEL', lease, 'absent') else redis.call('HSET', lease, 'absent', ARGV[4]) end
redis.call('ZADD', leases, 'XX', 'GT', ARGV[3], ARGV[1])
return 1
