-- The gauges of one crawl.
-- KEYS: leases, taken, known_hosts, hosts, results of each collector
-- ARGV: prefix of the queues' names, now
-- Returns {reports, leases, overdue leases, pages handed out, pages waiting, pages due, hosts, hosts that may not be
-- asked yet, seconds until the last of those may be asked, as text}.
local now = tonumber(ARGV[2])
local waiting, due = 0, 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  waiting = waiting + redis.call('ZCARD', ARGV[1] .. lane)
  due = due + redis.call('ZCOUNT', ARGV[1] .. lane, '-inf', ARGV[2])
end
local reports = 0
for i = 5, #KEYS do reports = reports + redis.call('LLEN', KEYS[i]) end
local last = redis.call('ZREVRANGE', KEYS[4], 0, 0, 'WITHSCORES')
local seconds = last[2] and math.max(0, tonumber(last[2]) - now) or 0
return {
  reports,
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[2]),
  redis.call('SCARD', KEYS[2]),
  waiting,
  due,
  redis.call('ZCARD', KEYS[4]),
  redis.call('ZCOUNT', KEYS[4], '(' .. ARGV[2], '+inf'),
  string.format('%.3f', seconds),
}
