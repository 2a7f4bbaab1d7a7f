-- How many pages wait. The count is maintained; it is recounted now and then, or when it was lost.
-- KEYS: waiting, known_hosts
-- ARGV: prefix of the queues' names, seconds until the next recount
-- Returns the number of pages.
local known = redis.call('GET', KEYS[1])
if known then return tonumber(known) end
local waiting = 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  waiting = waiting + redis.call('ZCARD', ARGV[1] .. lane)
end
redis.call('SET', KEYS[1], waiting, 'EX', ARGV[2])
return waiting
