-- The holder of a lease renews it.
-- KEYS: leases, lease of the batch
-- ARGV: batch, token, epoch seconds when the lease expires unless renewed
-- Returns 1 when renewed, 0 when the lease is gone or belongs to another token: the holder must stop fetching.
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[1], 'XX', ARGV[3], ARGV[1])
return 1
