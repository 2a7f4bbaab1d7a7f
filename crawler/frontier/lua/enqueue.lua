-- Enqueue pages of one lane. A page that waits already gets the new due time; one that is handed out is skipped.
-- KEYS: hosts, known_hosts, queue of the lane, active, rest, taken, pace, weights, waiting
-- ARGV: lane, default slices at once, default pages a slice, then member, due, member, due, ...
-- Returns how many were new to the queue.
-- Uses: rescore
-- Uses: pace
-- Uses: adjust_size
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
adjust_size(KEYS[9], added)
rescore(keys, lane, tonumber(redis.call('HGET', active, lane) or '0'), at_once, pages)
return added
