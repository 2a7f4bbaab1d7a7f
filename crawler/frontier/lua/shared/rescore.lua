-- When may this lane give a slice? Never while its slices are all out or nothing waits.
-- `first` of the queue is the page due first; a lane whose queue is empty is forgotten.
local function rescore(hosts, known, queue, rest, lane, out, at_once)
  local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if #first == 0 then redis.call('SREM', known, lane) else redis.call('SADD', known, lane) end
  if #first == 0 or out >= at_once then
    redis.call('ZREM', hosts, lane)
  else
    redis.call('ZADD', hosts, math.max(tonumber(first[2]), tonumber(redis.call('HGET', rest, lane) or '0')), lane)
  end
end
