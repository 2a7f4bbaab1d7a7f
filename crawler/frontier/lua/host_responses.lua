-- Add responses to the window of a host's throttle (`core.politeness.throttle`). Responses to requests that were sent
-- before its limit was last changed are not counted.
-- KEYS: host, its slots
-- ARGV: now, epoch seconds when the first of the requests was sent, responses, sum of the logarithms of their times in
--       seconds, sum of the squares of these, seconds a key is kept
-- Returns what is known of the throttle ('' = nothing), the window's start, responses and both sums as text, and how many
-- slots are in use.
-- Uses: late_call
local host = KEYS[1]
local now = not_late(tonumber(ARGV[1]))
local known = redis.call('HMGET', host, 'throttle', 'changed_at', 'since')
local changed_at, since = known[2] or '0', known[3]
if not since or tonumber(since) < tonumber(changed_at) or tonumber(since) > now + 2 then
  since = tonumber(changed_at) > 0 and changed_at or ARGV[2]
  redis.call('HSET', host, 'since', since, 'responses', 0, 'logs', 0, 'squares', 0)
end
redis.call('HSET', host, 'answered', 1)
if tonumber(ARGV[2]) >= tonumber(changed_at) then
  redis.call('HINCRBY', host, 'responses', ARGV[3])
  redis.call('HINCRBYFLOAT', host, 'logs', ARGV[4])
  redis.call('HINCRBYFLOAT', host, 'squares', ARGV[5])
end
redis.call('EXPIRE', host, ARGV[6])
local window = redis.call('HMGET', host, 'responses', 'logs', 'squares')
return {known[1] or '', since, window[1], window[2], window[3], redis.call('ZCOUNT', KEYS[2], now, '+inf')}
