-- Add responses to the window of a host's throttle (`core.politeness.throttle`). Responses to requests that were sent
-- before its limit was last changed are not counted. A host that responds at once, with a limit of twice the connections
-- that are of use, needs no decision: then its window begins again.
-- KEYS: host, its slots
-- ARGV: now, epoch seconds when the first of the requests was sent, responses, sum of the logarithms of their times in
--       seconds, sum of the squares of these, seconds a key is kept, logarithm of the seconds of a host that responds at
--       once, connections that are of use, seconds after which there must be a decision
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
local window = redis.call('HMGET', host, 'responses', 'logs', 'squares', 'limit', 'delay', 'delay_at')
local is_fast = tonumber(window[1]) > 0 and tonumber(window[2]) / tonumber(window[1]) < tonumber(ARGV[7])
local is_free = tonumber(window[4] or '0') >= 2 * tonumber(ARGV[8]) and tonumber(window[5]) == 0
if is_fast and is_free and now - tonumber(window[6]) < tonumber(ARGV[9]) then
  redis.call('HSET', host, 'since', string.format('%.6f', now), 'responses', 0, 'logs', 0, 'squares', 0)
  window = {'0', '0', '0'}
end
return {known[1] or '', since, window[1], window[2], window[3], redis.call('ZCOUNT', KEYS[2], now, '+inf')}
