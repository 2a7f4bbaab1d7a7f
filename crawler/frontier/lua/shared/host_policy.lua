-- Store this crawl's policy for a host, and find the strictest of all policies in use.
-- Returns the longest delay, the fewest connections, and whether this crawl has just made the delay longer.
local function strictest_policy(policies, crawl, delay, connections, now, keep)
  local longest, fewest, before = delay, connections, 0
  local all = redis.call('HGETALL', policies)
  for i = 1, #all, 2 do
    local d, c, t = string.match(all[i + 1], '^(%S+) (%S+) (%S+)$')
    if all[i] ~= crawl and tonumber(t) <= now then
      redis.call('HDEL', policies, all[i])
    else
      before = math.max(before, tonumber(d))
      if all[i] ~= crawl then longest, fewest = math.max(longest, tonumber(d)), math.min(fewest, tonumber(c)) end
    end
  end
  local stay = keep + 2 * delay
  -- All digits: a rounded delay would be shorter than the same policy stored again, each time.
  redis.call('HSET', policies, crawl, string.format('%.17g %d %.6f', delay, connections, now + stay))
  redis.call('EXPIRE', policies, math.max(math.ceil(stay) + 1, redis.call('TTL', policies)))
  return longest, fewest, longest > before
end

-- Current holders use a shorter delay: the next grant comes after they have seen the new one, and it has passed.
local function announce(host, heard_at)
  if tonumber(redis.call('HGET', host, 'sent') or '0') >= heard_at then return end
  redis.call('HSET', host, 'sent', string.format('%.6f', heard_at))
  redis.call('EXPIRE', host, 86400)
end
