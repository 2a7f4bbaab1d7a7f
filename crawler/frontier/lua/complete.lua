-- Complete one slice of a lease: its pages leave the "taken" set, and one more slice of its lane may be handed out. A
-- slice that is gone, or a stale token, changes nothing.
-- KEYS: hosts, known_hosts, queue of the lane, active, rest, taken, pace, weights, waiting, leases,
--       lease of the batch
-- ARGV: lane, default slices at once, default pages a slice, batch, token, slice number,
--       Retry-After deadline of the lane in epoch seconds (0 = none),
--       then the pages that go back to the queue: member, due, member, due, ...
-- Returns 1 when the slice was completed, 0 when there was nothing to complete.
-- Uses: rescore
-- Uses: pace
-- Uses: adjust_size
local queue, active, rest, taken, pace, leases, lease =
  KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[10], KEYS[11]
local keys = {hosts = KEYS[1], known = KEYS[2], queue = queue, rest = rest, pace = pace, weights = KEYS[8]}
local lane, batch, token, number = ARGV[1], ARGV[4], ARGV[5], ARGV[6]
local next_at = tonumber(ARGV[7])
if redis.call('HGET', lease, 'token') ~= token then return 0 end
local slice = redis.call('HGET', lease, number)
if not slice then return 0 end
redis.call('HDEL', lease, number)
local first_word = true
for word in string.gmatch(slice, '%S+') do
  if first_word then first_word = false else redis.call('SREM', taken, word) end
end
local back = 0
for i = 8, #ARGV, 2 do
  back = back + redis.call('ZADD', queue, ARGV[i + 1], ARGV[i])
end
adjust_size(KEYS[9], back)
local left = 0
for _, field in ipairs(redis.call('HKEYS', lease)) do
  if tonumber(field) then left = left + 1 end
end
if left == 0 then
  redis.call('DEL', lease)
  redis.call('ZREM', leases, batch)
end
local out = math.max(0, tonumber(redis.call('HGET', active, lane) or '0') - 1)
if out == 0 then redis.call('HDEL', active, lane) else redis.call('HSET', active, lane, out) end
if next_at > tonumber(redis.call('HGET', rest, lane) or '0') then redis.call('HSET', rest, lane, ARGV[7]) end
local at_once, pages = pace_of(pace, lane, ARGV[2], ARGV[3])
rescore(keys, lane, out, at_once, pages)
return 1
