-- Shorten the time to live of a key.
-- KEYS: key
-- ARGV: maximum time to live in milliseconds
-- Returns 1 when it was shortened, 0 when it was shorter already, or when there is no such key.
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
