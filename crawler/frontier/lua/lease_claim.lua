-- A fetch job claims its batch. Only the first job with the right token succeeds.
-- KEYS: leases, lease of the batch
-- ARGV: batch, token, epoch seconds when the lease expires unless renewed, now, name of the holder
-- Returns 1 when claimed, 0 when the lease is gone, belongs to another token or is held already.
local leases, lease = KEYS[1], KEYS[2]
if redis.call('HGET', lease, 'token') ~= ARGV[2] or redis.call('HGET', lease, 'state') ~= 'waiting' then return 0 end
redis.call('HSET', lease, 'state', 'held', 'since', ARGV[4], 'holder', ARGV[5])
redis.call('HDEL', lease, 'absent')
redis.call('ZADD', leases, ARGV[3], ARGV[1])
return 1
