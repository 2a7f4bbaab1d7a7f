-- Request a grant to send one request to a host, keeping its delay over all workers and crawls. A grant begins now or is
-- refused: future times are not reserved. The delay counts from the moment the last request was sent; the holder of a
-- grant reports it (`host_sent`), and until then no other holder gets one: so a holder that is slow in between causes no
-- request too soon after its own.
-- After a stop (`core.politeness.host_rules`) the host is on trial: one holder asks, and the others wait for the result.
-- Of more holders than the throttle's limit, which has fallen since they came, some wait: always the same, until others
-- have left. They are chosen by the ends of their names, so that no crawl is preferred.
-- KEYS: host, its policies, its slots
-- ARGV: holder, crawl, now, delay, connections, 1 = the automatic throttle counts, seconds a policy is kept,
--       seconds a grant's holder is waited for, seconds after which a holder without a delay checks for a new policy,
--       seconds after which the throttle is forgotten, seconds a trial is waited for, seconds between two checks of it,
--       seconds after which a holder that is one too many asks again
-- Returns {granted 1 or 0, epoch seconds when to ask again, delay that counts, 1 = on trial, 1 = any holder with the same
-- policy would get one}, the second and third as text.
-- Uses: host_policy
-- Uses: late_call
local host, policies = KEYS[1], KEYS[2]
local holder, now = ARGV[1], not_late(tonumber(ARGV[3]))
local delay, _, is_longer = strictest_policy(policies, ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5]), now, tonumber(ARGV[7]))
if is_longer then announce(host, now + tonumber(ARGV[9])) end  -- robots.txt asks for one, and was just asked for
local known = redis.call('HMGET', host, 'until', 'pending', 'pending_until', 'sent', 'delay', 'delay_at', 'stops',
  'probe', 'probe_until', 'limit')
local is_throttled = ARGV[6] == '1' and now - tonumber(known[6] or now) <= tonumber(ARGV[10])
if is_throttled and known[5] then delay = math.max(delay, tonumber(known[5])) end
local is_for_all = delay <= 0 and 1 or 0
local function is_one_too_many(limit)
  if redis.call('ZCARD', KEYS[3]) <= limit then return false end
  is_for_all = 0
  local names = redis.call('ZRANGE', KEYS[3], 0, -1)
  for i, name in ipairs(names) do names[i] = string.reverse(name) end
  table.sort(names)
  for i, name in ipairs(names) do
    if name == string.reverse(holder) then return i > limit end
  end
  return false
end
-- A time further off than any that is written was written before Redis's clock was set back.
local function lies_ahead(moment, at_most) return moment and tonumber(moment) > now + at_most + 2 end
if lies_ahead(known[3], tonumber(ARGV[8])) then known[3] = '0' end
if lies_ahead(known[4], 0) then
  known[4] = string.format('%.6f', now)
  redis.call('HSET', host, 'sent', known[4])
end
local on_trial = tonumber(known[7] or '0') > 0 and 1 or 0
if on_trial == 1 then is_for_all = 0 end
local function answer(granted, at)
  return {granted, string.format('%.6f', at), string.format('%.6f', delay), on_trial, granted * is_for_all}
end
local function try()
  if on_trial == 0 then return end
  redis.call('HSET', host, 'probe', holder, 'probe_until', string.format('%.6f', now + tonumber(ARGV[11])))
end
if tonumber(known[1] or '0') > now then return answer(0, tonumber(known[1])) end
if on_trial == 1 and known[8] and known[8] ~= holder and tonumber(known[9]) > now then
  return answer(0, math.min(tonumber(known[9]), now + tonumber(ARGV[12])))
end
if is_throttled and known[10] and is_one_too_many(tonumber(known[10])) then return answer(0, now + tonumber(ARGV[13])) end
if delay <= 0 then
  try()
  return answer(1, now)
end
if known[2] and known[2] ~= holder and tonumber(known[3]) > now then return answer(0, now + 0.02) end
local next_at = tonumber(known[4] or '0') + delay
if next_at > now then return answer(0, next_at) end
try()
redis.call('HSET', host, 'pending', holder, 'pending_until', string.format('%.6f', now + tonumber(ARGV[8])),
  'sent', string.format('%.6f', now))
redis.call('EXPIRE', host, 86400)
return answer(1, now + delay)
