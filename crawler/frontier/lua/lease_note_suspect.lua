-- The holder of a lease notes the suspect it is about to fetch: if the worker dies, this page is blamed.
-- KEYS: lease of the batch
-- ARGV: token, "page attempt" ('' = none)
-- Returns 1 when noted, 0 when the lease is gone or belongs to another token: the holder must stop fetching.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'hand') else redis.call('HSET', KEYS[1], 'hand', ARGV[2]) end
return 1
