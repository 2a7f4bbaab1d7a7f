-- The gauges of one crawl.
-- KEYS: results, leases, taken, known_hosts, hosts
-- ARGV: prefix of the queues' names, now
-- Returns {reports, leases, overdue leases, pages handed out, pages waiting, pages due, hosts, hosts that may not be
-- asked yet, seconds until the last of those may be asked, as text}.
local now = tonumber(ARGV[2])
local waiting, due = 0, 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[4])) do
  waiting = waiting + redis.call('ZCARD', ARGV[1] .. lane)
  due = due + redis.call('ZCOUNT', ARGV[1] .. lane, '-inf', ARGV[2])
end
local last = redis.call('ZREVRANGE', KEYS[5], 0, 0, 'WITHSCORES')
local seconds = last[2] and math.max(0, tonumber(last[2]) - now) or 0
return {
  redis.call('LLEN', KEYS[1]),
  redis.call('ZCARD', KEYS[2]),
  redis.call('ZCOUNT', KEYS[2], '-inf', ARGV[2]),
  redis.call('SCARD', KEYS[3]),
  waiting,
  due,
  redis.call('ZCARD', KEYS[5]),
  redis.call('ZCOUNT', KEYS[5], '(' .. ARGV[2], '+inf'),
  string.format('%.3f', seconds),
}
