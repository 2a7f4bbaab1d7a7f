-- Notes that a page shows the log-in form in the current session.
-- KEYS: login. ARGV: session, page, why the crawl cannot go on if it is the second time.
-- Returns 0 = the session is another one by now, 1 = the first time, 2 = not the first: the log-in has failed.
if redis.call('HGET', KEYS[1], 'session') ~= ARGV[1] then
    return 0
end
local times = redis.call('HINCRBY', KEYS[1], 'shown:' .. ARGV[2], 1)
if times == 1 then
    return 1
end
redis.call('HDEL', KEYS[1], 'shown:' .. ARGV[2])
redis.call('HSET', KEYS[1], 'failed', ARGV[3])
return 2
