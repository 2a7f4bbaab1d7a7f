-- Stores the cookies of a session, unless another worker stored some meanwhile, or the session is another one.
-- KEYS: login. ARGV: session, known revision, encrypted cookies.
-- Returns the new revision; 0 = not stored, -1 = another session.
local known = redis.call('HMGET', KEYS[1], 'session', 'revision')
if known[1] ~= ARGV[1] then
    return -1
end
if known[2] ~= ARGV[2] then
    return 0
end
redis.call('HSET', KEYS[1], 'jar', ARGV[3])
return redis.call('HINCRBY', KEYS[1], 'revision', 1)
