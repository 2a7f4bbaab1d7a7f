-- Ends a log-in, unless its lock has expired: then another worker logs in.
-- KEYS: lock, login. ARGV: token, session ('' = it failed), encrypted cookies, why it failed.
-- Returns whether the lock was still held.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return 0
end
if ARGV[2] == '' then
    redis.call('HSET', KEYS[2], 'failed', ARGV[4])
else
    redis.call('HSET', KEYS[2], 'session', ARGV[2], 'jar', ARGV[3], 'revision', 1)
    redis.call('HDEL', KEYS[2], 'failed')
end
redis.call('DEL', KEYS[1])
return 1
