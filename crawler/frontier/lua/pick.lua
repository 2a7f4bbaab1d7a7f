-- Hand out one slice of whichever lane may give one and has waited longest: its pages due first, and among those due at
-- the same time the most urgent, move from its queue into a batch's lease. O(log n) in lanes and pages.
-- KEYS: hosts, known_hosts, active, rest, taken, leases, pace
-- ARGV: now, usual slices at once, usual pages a slice, seconds until somebody should look whether the job is known,
--       start of the names of queues, start of the names of leases,
--       batch, token, number of the slice in it,
--       batch and token for a suspects' slice ('' = leave suspects alone)
-- Answers {lane, member, member, ...}; nothing when no lane may give a slice now.
-- Uses: rescore
-- Uses: pace
local hosts, known, active, rest, taken, leases, pace = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local now = tonumber(ARGV[1])
local skipped = 0
while true do
  local lane = redis.call('ZRANGEBYSCORE', hosts, '-inf', now, 'LIMIT', skipped, 1)[1]
  if not lane or skipped > 64 then return {} end
  local suspect = string.find(lane, '|', 1, true)
  if suspect and ARGV[10] == '' then
    skipped = skipped + 1
  else
    local queue = ARGV[5] .. lane
    local at_once, pages = pace_of(pace, lane, ARGV[2], ARGV[3])
    local out = tonumber(redis.call('HGET', active, lane) or '0')
    local members = {}
    if out < at_once and tonumber(redis.call('HGET', rest, lane) or '0') <= now then
      members = redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, pages)
    end
    if #members > 0 then
      local batch, token, number = ARGV[7], ARGV[8], ARGV[9]
      if suspect then batch, token, number = ARGV[10], ARGV[11], '0' end
      redis.call('ZREM', queue, unpack(members))
      redis.call('SADD', taken, unpack(members))
      out = redis.call('HINCRBY', active, lane, 1)
      redis.call('HSET', ARGV[6] .. batch, 'token', token, 'state', 'waiting',
        number, lane .. ' ' .. table.concat(members, ' '))
      redis.call('ZADD', leases, now + tonumber(ARGV[4]), batch)
    end
    rescore(hosts, known, queue, rest, lane, out, at_once)
    if #members > 0 then return {lane, unpack(members)} end
    local score = redis.call('ZSCORE', hosts, lane)
    if score and tonumber(score) <= now then skipped = skipped + 1 end  -- it cannot be: but a script must end
  end
end
