-- How many pages wait, and how many of them are due.
-- KEYS: known_hosts
-- ARGV: prefix of the queues' names, now
-- Returns {waiting, due}.
local waiting, due = 0, 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  waiting = waiting + redis.call('ZCARD', ARGV[1] .. lane)
  due = due + redis.call('ZCOUNT', ARGV[1] .. lane, '-inf', ARGV[2])
end
return {waiting, due}
