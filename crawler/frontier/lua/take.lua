-- Hand out one slice: move due pages of one host from its queue into a batch's lease, in one step.
-- KEYS: hosts, queue of the host, active, rest, taken, leases, lease of the batch
-- ARGV: host, slices of this host that may be out at once, now, pages at most, batch, token, slice number,
--       seconds until somebody should look whether the batch's job is still known
-- Answers the ids taken, in the order of their due times; none when the host has nothing to give now.
-- Uses: rescore
local hosts, queue, active, rest, taken, leases, lease =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local host, at_once, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local pages, batch, token, number, patience = tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8])
local ids = {}
local out = tonumber(redis.call('HGET', active, host) or '0')
if out < at_once and tonumber(redis.call('HGET', rest, host) or '0') <= now then
  ids = redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, pages)
end
if #ids > 0 then
  redis.call('ZREM', queue, unpack(ids))
  redis.call('SADD', taken, unpack(ids))
  out = redis.call('HINCRBY', active, host, 1)
  redis.call('HSET', lease, 'token', token, 'state', 'waiting', number, host .. ' ' .. table.concat(ids, ' '))
  redis.call('ZADD', leases, now + patience, batch)
end
rescore(hosts, queue, rest, host, out, at_once)
return ids
