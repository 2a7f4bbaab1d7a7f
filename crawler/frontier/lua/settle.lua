-- End one slice of a lease: its pages leave the "taken" set, those still open go back to the queue, and the host's
-- connection is free again. A slice that is not there any more, or a stale token, changes nothing.
-- KEYS: hosts, known_hosts, queue of the host, active, rest, taken, leases, lease of the batch
-- ARGV: host, slices of this host that may be out at once, batch, token, slice number,
--       epoch seconds before which the host must be left in peace (0 = none), then id, due, id, due, ...
-- Answers 1 when the slice was settled, 0 when there was nothing to settle.
-- Uses: rescore
local hosts, known, queue, active, rest, taken, leases, lease =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local host, at_once, batch, token, number = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local next_at = tonumber(ARGV[6])
if redis.call('HGET', lease, 'token') ~= token then return 0 end
local slice = redis.call('HGET', lease, number)
if not slice then return 0 end
redis.call('HDEL', lease, number)
local first_word = true
for word in string.gmatch(slice, '%S+') do
  if first_word then first_word = false else redis.call('SREM', taken, word) end
end
for i = 7, #ARGV, 2 do
  redis.call('ZADD', queue, ARGV[i + 1], ARGV[i])
end
local left = 0
for _, field in ipairs(redis.call('HKEYS', lease)) do
  if tonumber(field) then left = left + 1 end
end
if left == 0 then
  redis.call('DEL', lease)
  redis.call('ZREM', leases, batch)
end
local out = math.max(0, tonumber(redis.call('HGET', active, host) or '0') - 1)
if out == 0 then redis.call('HDEL', active, host) else redis.call('HSET', active, host, out) end
if next_at > tonumber(redis.call('HGET', rest, host) or '0') then redis.call('HSET', rest, host, ARGV[6]) end
redis.call('SADD', known, host)
rescore(hosts, queue, rest, host, out, at_once)
return 1
