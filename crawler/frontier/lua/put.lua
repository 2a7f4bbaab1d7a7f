-- Put pages of one lane into the frontier. One that waits already gets the new due time; one that is handed out stays.
-- KEYS: hosts, known_hosts, queue of the lane, active, rest, taken, pace
-- ARGV: lane, usual slices at once, usual pages a slice, then member, due, member, due, ...
-- Answers how many were new to the queue.
-- Uses: rescore
-- Uses: pace
local hosts, known, queue, active, rest, taken, pace = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local lane = ARGV[1]
local added = 0
for i = 4, #ARGV, 2 do
  if redis.call('SISMEMBER', taken, ARGV[i]) == 0 then
    added = added + redis.call('ZADD', queue, ARGV[i + 1], ARGV[i])
  end
end
local at_once = pace_of(pace, lane, ARGV[2], ARGV[3])
rescore(hosts, known, queue, rest, lane, tonumber(redis.call('HGET', active, lane) or '0'), at_once)
return added
