-- Update a lane's due time and weight. It gives no slice while its slices are all out or its queue is empty. Its weight is
-- the number of slices left; a host without a pace was never asked and weighs more than any other, because it may turn
-- out to be the largest. A lane with an empty queue is removed.
local UNKNOWN = 1000000000
local function rescore(keys, lane, out, at_once, pages)
  local first = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')
  if #first == 0 then redis.call('SREM', keys.known, lane) else redis.call('SADD', keys.known, lane) end
  if #first == 0 or out >= at_once then
    redis.call('ZREM', keys.hosts, lane)
    redis.call('ZREM', keys.weights, lane)
  else
    local rest = tonumber(redis.call('HGET', keys.rest, lane) or '0')
    redis.call('ZADD', keys.hosts, math.max(tonumber(first[2]), rest), lane)
    local host = string.match(lane, '^[^|]*')
    local is_known = redis.call('HEXISTS', keys.pace, host) == 1
    redis.call('ZADD', keys.weights, is_known and redis.call('ZCARD', keys.queue) / pages or UNKNOWN, lane)
  end
end
