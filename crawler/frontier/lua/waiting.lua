-- How many pages wait. It is kept count of; now and then, or when the count was lost, it is counted anew.
-- KEYS: waiting, known_hosts
-- ARGV: start of the names of queues, seconds until it is counted anew
local known = redis.call('GET', KEYS[1])
if known then return tonumber(known) end
local waiting = 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  waiting = waiting + redis.call('ZCARD', ARGV[1] .. lane)
end
redis.call('SET', KEYS[1], waiting, 'EX', ARGV[2])
return waiting
