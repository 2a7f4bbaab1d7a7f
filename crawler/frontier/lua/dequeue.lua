-- Hand out one slice: the first due pages of a lane, by due time and then priority, move from the lane's queue into a
-- batch's lease. The lane is the heaviest that may give a slice now, if it is among the HEAVIEST of all: the longest work
-- must begin first and never pause, or the crawl ends late (R. L. Graham, "Bounds on Multiprocessing Timing Anomalies",
-- 1969). Otherwise it is the lane that has waited longest. A lane with no more pages than one slice gives a short slice, so
-- that no worker is busy for long while heavy lanes are still being found, and that the few pages of a slow host are
-- asked for over all its connections; but not while there are more lanes than the workers have connections, because each
-- slice costs a millisecond. A lane that may give several slices at once gives equal shares of its pages, as many as
-- connections come to a lane, so that the last ones end together (C. D. Polychronopoulos and D. J. Kuck, "Guided
-- Self-Scheduling", 1987). O(log n) in lanes and pages.
-- KEYS: hosts, known_hosts, active, rest, taken, leases, pace, weights, waiting
-- ARGV: now, default slices at once, default pages a slice, seconds until the manager checks whether RQ knows the job,
--       prefix of the queues' names, prefix of the leases' names,
--       batch, token, number of the slice in it,
--       batch and token for a suspects' slice ('' = skip suspects),
--       connections of all workers together, most pages of a slice
-- Returns {lane, member, member, ...}; nothing when no lane may give a slice now.
-- Uses: rescore
-- Uses: pace
-- Uses: adjust_size
local HEAVIEST = 32
local LEAST_SHARES = 2  -- into which the pages of a lane are divided: one slice of all of them would end last
local hosts, active, rest, taken, leases, pace = KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local now, connections, most = tonumber(ARGV[1]), tonumber(ARGV[12]), tonumber(ARGV[13])

local function is_suspect(lane) return string.find(lane, '|%a*%d') end

local function heaviest()
  for _, lane in ipairs(redis.call('ZREVRANGE', KEYS[8], 0, HEAVIEST - 1)) do
    local at = redis.call('ZSCORE', hosts, lane)
    if at and tonumber(at) <= now and not is_suspect(lane) then return lane end
  end
end

local function longest_waiting()
  for _, lane in ipairs(redis.call('ZRANGEBYSCORE', hosts, '-inf', now, 'LIMIT', 0, 64)) do
    if ARGV[10] ~= '' or not is_suspect(lane) then return lane end
  end
end

while true do
  local lane = heaviest() or longest_waiting()
  if not lane then return {} end
  local keys = {hosts = hosts, known = KEYS[2], queue = ARGV[5] .. lane, rest = rest, pace = pace, weights = KEYS[8]}
  local at_once, pages, short = pace_of(pace, lane, ARGV[2], ARGV[3])
  local out = tonumber(redis.call('HGET', active, lane) or '0')
  local members = {}
  if out < at_once and tonumber(redis.call('HGET', rest, lane) or '0') <= now then
    local lanes = redis.call('ZCARD', hosts)
    if lanes > connections then short = math.min(pages, SHORT) end
    local waiting, at_most = redis.call('ZCARD', keys.queue), short
    local shares = math.min(at_once, math.max(LEAST_SHARES, math.ceil(connections / lanes)))
    if waiting > pages or at_once > 1 then at_most = math.min(pages, math.max(at_most, math.ceil(waiting / shares))) end
    members = redis.call('ZRANGEBYSCORE', keys.queue, '-inf', now, 'LIMIT', 0, math.min(at_most, most))
  end
  if #members > 0 then
    local batch, token, number = ARGV[7], ARGV[8], ARGV[9]
    if is_suspect(lane) then batch, token, number = ARGV[10], ARGV[11], '0' end
    adjust_size(KEYS[9], -redis.call('ZREM', keys.queue, unpack(members)))
    redis.call('SADD', taken, unpack(members))
    out = redis.call('HINCRBY', active, lane, 1)
    redis.call('HSET', ARGV[6] .. batch, 'token', token, 'state', 'waiting',
      number, lane .. ' ' .. table.concat(members, ' '))
    redis.call('ZADD', leases, now + tonumber(ARGV[4]), batch)
  end
  rescore(keys, lane, out, at_once, pages)
  if #members > 0 then return {lane, unpack(members)} end
  local at = redis.call('ZSCORE', hosts, lane)
  if at and tonumber(at) <= now then return {} end  -- it cannot be: but a script must end
end
