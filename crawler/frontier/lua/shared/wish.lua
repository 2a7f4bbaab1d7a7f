-- Note how this crawl wants a host to be asked, and find the strictest of all wishes that are alive.
-- Answers the longest delay, the fewest connections, and whether this crawl has just made the delay longer.
local function wish(wishes, crawl, delay, connections, now, keep)
  local longest, fewest, before = delay, connections, 0
  local all = redis.call('HGETALL', wishes)
  for i = 1, #all, 2 do
    local d, c, t = string.match(all[i + 1], '^(%S+) (%S+) (%S+)$')
    if all[i] ~= crawl and tonumber(t) <= now then
      redis.call('HDEL', wishes, all[i])
    else
      before = math.max(before, tonumber(d))
      if all[i] ~= crawl then longest, fewest = math.max(longest, tonumber(d)), math.min(fewest, tonumber(c)) end
    end
  end
  local stay = keep + 2 * delay
  -- The delay to its last digit: one cut short would be shorter than the same wish made again, each time anew.
  redis.call('HSET', wishes, crawl, string.format('%.17g %d %.6f', delay, connections, now + stay))
  redis.call('EXPIRE', wishes, math.max(math.ceil(stay) + 1, redis.call('TTL', wishes)))
  return longest, fewest, longest > before
end

-- Those at work have kept a shorter delay: the next turn comes once they have heard of it, and it has passed.
local function announce(host, heard_at)
  if tonumber(redis.call('HGET', host, 'sent') or '0') >= heard_at then return end
  redis.call('HSET', host, 'sent', string.format('%.6f', heard_at))
  redis.call('EXPIRE', host, 86400)
end
