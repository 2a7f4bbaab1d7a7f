-- When may this host give a slice? Never while its connections are all in use or nothing waits.
local function rescore(hosts, queue, rest, host, out, at_once)
  local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if #first == 0 or out >= at_once then
    redis.call('ZREM', hosts, host)
  else
    redis.call('ZADD', hosts, math.max(tonumber(first[2]), tonumber(redis.call('HGET', rest, host) or '0')), host)
  end
end
