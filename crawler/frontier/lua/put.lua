-- Put pages of one lane into the frontier. One that waits already gets the new due time; one that is handed out stays.
-- KEYS: hosts, known_hosts, queue of the lane, active, rest, taken, pace, weights, waiting
-- ARGV: lane, usual slices at once, usual pages a slice, then member, due, member, due, ...
-- Answers how many were new to the queue.
-- Uses: rescore
-- Uses: pace
-- Uses: tally
local queue, active, taken, pace = KEYS[3], KEYS[4], KEYS[6], KEYS[7]
local keys = {hosts = KEYS[1], known = KEYS[2], queue = queue, rest = KEYS[5], pace = pace, weights = KEYS[8]}
local lane = ARGV[1]
local added = 0
for i = 4, #ARGV, 2 do
  if redis.call('SISMEMBER', taken, ARGV[i]) == 0 then
    added = added + redis.call('ZADD', queue, ARGV[i + 1], ARGV[i])
  end
end
local at_once, pages = pace_of(pace, lane, ARGV[2], ARGV[3])
tally(KEYS[9], added)
rescore(keys, lane, tonumber(redis.call('HGET', active, lane) or '0'), at_once, pages)
return added
