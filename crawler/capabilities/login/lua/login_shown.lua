-- Notes that a page shows the log-in form in the current session, which has ended by that.
-- KEYS: login. ARGV: session, page, why the crawl cannot go on if it does so too often, times that are not too often.
-- Returns 0 = the session is another one by now, 1 = not too often, 2 = too often: the log-in has failed.
if redis.call('HGET', KEYS[1], 'session') ~= ARGV[1] then
    return 0
end
redis.call('HSET', KEYS[1], 'ended', ARGV[1])
local times = redis.call('HINCRBY', KEYS[1], 'shown:' .. ARGV[2], 1)
if times <= tonumber(ARGV[4]) then
    return 1
end
redis.call('HDEL', KEYS[1], 'shown:' .. ARGV[2])
redis.call('HSET', KEYS[1], 'failed', ARGV[3])
return 2
